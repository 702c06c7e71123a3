"""The page of reviews: which facts are due, which come next, and by which rules, all from the registry."""

from collections import Counter
from collections.abc import Sequence
from html import escape

from gpumoat.facts import Registry
from gpumoat.review import Due, Rule, load_rules, newest_check, schedule

COMING = 12
"""How many of the next days are listed."""


def review_html(known: Registry, root: str) -> str:
    """Return the three tables of the page.

    Args:
        known: The registry.
        root: The way from the page up to the site's root.
    """
    today, rules, facts = newest_check(known), load_rules(), schedule(known)
    day = today.isoformat() if today else "no day"
    due = [one for one in facts if today and one.day and one.day < today]
    out = [f'<p class="gm-review-day">The newest check in the registry is of <b>{day}</b>. </p>']
    if due:
        out.append(f"<p><b>{_count(len(due), 'fact is', 'facts are')} due.</b></p>" + _due_table(due, root))
    else:
        out.append(f"<p>None of the {len(facts)} facts is due on that day.</p>")
    coming = Counter(one.day for one in facts if one.day and not (today and one.day < today))
    days = sorted(coming.items())[:COMING]
    if days:
        rows = [(when.isoformat(), str(count)) for when, count in days]
        out.append(_table("What comes next", ("Check again by", "Facts"), rows, "coming"))
    under = Counter(one.rule.id for one in facts)
    table = [(escape(rule.id), _interval(rule), escape(rule.why), str(under[rule.id])) for rule in rules]
    out.append(
        _table("The rules, in the order in which they are tried", ("Rule", "Interval", "Why", "Facts"), table, "rules")
    )
    return "\n".join(out)


def _interval(rule: Rule) -> str:
    days = "never" if rule.days is None else f"{rule.days} days"
    return days + (", where a fact asks for it" if rule.chosen_only else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _due_table(due: list[Due], root: str) -> str:
    rows = []
    for one in due:
        source = one.fact.text("source")
        link = f'<a href="{root}bibliography/#{escape(source)}">{escape(source)}</a>'
        day = one.day.isoformat() if one.day else ""
        rows.append(
            (escape(one.fact.id), escape(one.fact.text("statement")), link, one.fact.text("checked"), day, one.rule.id)
        )
    heads = ("Fact", "What it says", "Source", "Checked", "Due for review since", "Rule")
    return _table("Facts that are due", heads, rows, "due")


def _table(caption: str, heads: tuple[str, ...], rows: Sequence[Sequence[str]], name: str) -> str:
    """Return a table of finished cells; the first of a row is its heading."""
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows
    )
    return (
        f'<figure class="gm-table" id="table-{name}"><div class="gm-scroll" tabindex="0" role="region" '
        f'aria-labelledby="caption-{name}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f'<figcaption id="caption-{name}"><p>{caption}</p></figcaption></figure>'
    )
