"""The ledger: every claim of the two documents that we have checked, right or wrong, with an address of its own.

One list, made from the registry alone, so that a claim cannot be judged in a chapter and forgotten here. What is
right is recomputed by ``gpumoat.registry_check`` from the expression that stands beside it. The filter by verdict,
document and part is a script on top (``claims.js``); without it the whole list is there.
"""

import ast
import json
from html import escape
from pathlib import Path

from gpumoat.facts import VERDICTS, Record, registry
from gpumoat.registry_check import claim_sources
from gpumoat.site.cards import DOCUMENTS, linked_source
from gpumoat.site.page import Page
from gpumoat.site.project import Project
from gpumoat.verdicts import DATE, SCALE, deserved

PARTS = {
    "moat": "The moat",
    "compute": "How a GPU computes",
    "memory": "Memory",
    "stack": "The stack",
    "silicon": "Silicon",
    "cloud": "Cloud",
}
NAMES = {"lecture": "lecture notes", "chapter": "book chapter"}

# Where a claim that no chapter uses belongs: by document and by how its section begins. The first that fits counts.
_SECTIONS = (
    (("lecture", "1"), "moat"),
    (("lecture", "2"), "compute"),
    (("lecture", "3.5"), "memory"),
    (("lecture", "3.6"), "stack"),
    (("lecture", "3"), "compute"),
    (("lecture", "4.1"), "silicon"),
    (("lecture", "4.2"), "stack"),
    (("lecture", "4.4"), "stack"),
    (("lecture", "4"), "moat"),
    (("lecture", "5"), "cloud"),
    (("lecture", "closing"), "memory"),
    (("chapter", "1"), "compute"),
    (("chapter", "2"), "cloud"),
    (("chapter", "3"), "cloud"),
    (("chapter", "4"), "moat"),
    (("chapter", "5"), "cloud"),
    (("chapter", ""), "moat"),
    (("lecture", ""), "moat"),
)


def used_by(project: Project) -> dict[str, list[str]]:
    """Return, for each claim, the pages whose example or prose reads it."""
    found: dict[str, list[str]] = {}
    for path in project.all_pages():
        texts = [(project.pages / path).read_text(encoding="utf-8")]
        script = project.example_of(path)
        names: set[str] = set()
        if script.is_file():
            source = script.read_text(encoding="utf-8")
            texts.append(source)
            names = {
                node.value
                for node in ast.walk(ast.parse(source))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
        for id in registry().claims:
            if id in names or any(f'claim("{id}")' in text for text in texts):
                found.setdefault(id, []).append(path)
    return found


def part_of(record: Record, pages: list[str]) -> str:
    """Return the part of the book that a claim belongs to: that of the chapter that reads it, else by its section."""
    for page in pages:
        part = page.split("/")[0]
        if part in PARTS:
            return part
    for (document, section), part in _SECTIONS:
        if record.text("document") == document and record.text("where").startswith(section):
            return part
    return "moat"


def entries(page: Page, pages: dict[str, list[str]]) -> list[tuple[dict[str, str], str]]:
    """Return each claim's attributes and its HTML, document by document in the order of their sections.

    Args:
        page: The page that shows them.
        pages: What ``used_by`` found.
    """
    ordered = sorted(
        registry().claims.values(), key=lambda one: (one.text("document") != "lecture", one.text("where"), one.id)
    )
    found = []
    for record in ordered:
        part = part_of(record, pages.get(record.id, []))
        attributes = {
            "class": "gm-claim",
            "id": record.id,
            "data-verdict": record.text("verdict"),
            "data-document": record.text("document"),
            "data-part": part,
        }
        found.append((attributes, _claim_html(page, record, part, pages.get(record.id, []))))
    return found


def _claim_html(page: Page, record: Record, part: str, pages: list[str]) -> str:
    source, document = DOCUMENTS[record.text("document")], NAMES[record.text("document")]
    where = f'<a href="{page.root}bibliography/#{source}">{document}</a>, section {escape(record.text("where"))}'
    form = record.text("form")
    said = " ".join(part for part in ("" if form == "year" else form, _value(record, "value")) if part)
    right = _value(record, "right")
    numbers = f"Said: <b>{said}</b>. " if said else ""
    if right:
        numbers += f"Right: <b>{right}</b>"
        expression = record.text("expression")
        numbers += f", by <code>{escape(expression)}</code>. " if expression else ". "
    rests = [linked_source(page, record_id, place) for record_id, place in claim_sources(record.row)]
    rests += [_fact(page, id) for id in record.row.get("facts") or []]  # type: ignore[attr-defined]
    behind = f"<p class='gm-claim-rests'>Rests on {'; '.join(dict.fromkeys(rests))}.</p>" if rests else ""
    links = ", ".join(f'<a href="{_address(page, path)}">{escape(path.removesuffix(".md"))}</a>' for path in pages)
    read = f" Worked in {links}." if links else ""
    why = record.text("why")
    if why:
        by_scale = deserved(record.row["value"], record.row["right"], form)  # type: ignore[arg-type]
        read = f" By the scale it would be {by_scale}. {escape(why)}{read}"
    return (
        f'<p class="gm-claim-head"><span class="gm-verdict" data-verdict="{record.text("verdict")}">'
        f"{record.text('verdict')}</span> <small>{where} · {PARTS[part]} · "
        f'<a href="#{record.id}">{record.id}</a></small></p>'
        f"<p>{escape(record.text('says'))}</p>"
        f"<p class='gm-claim-why'>{numbers}{escape(record.text('explanation'))}{read}</p>{behind}"
    )


def _address(page: Page, path: str) -> str:
    """Return the address of another page, seen from this one."""
    stem = Path(path).with_suffix("")
    return page.root + ("" if stem.as_posix() == "index" else f"{stem.as_posix().removesuffix('/index')}/")


def _value(record: Record, name: str) -> str:
    value = record.row.get(name)
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, (int, float)) else str(value)
    return escape(f"{text} {record.text('unit')}".strip())


def _fact(page: Page, id: object) -> str:
    fact = registry().facts.get(str(id))
    return linked_source(page, fact.text("source"), "") if fact else escape(str(id))


def scale_html() -> str:
    """Return what each verdict means, as the check of the data has it."""
    rows = "".join(f"<dt>{word}</dt><dd>{escape(SCALE[word])}</dd>" for word in VERDICTS)
    return f'<dl class="gm-scale" id="scale">{rows}</dl><p>{escape(DATE)}</p>'


def filter_html(found: list[tuple[dict[str, str], str]]) -> str:
    """Return the controls of the filter, hidden until the script shows them, and the tally of verdicts."""
    verdicts = [row["data-verdict"] for row, _ in found]
    tally = ", ".join(f"{verdicts.count(word)} {word}" for word in VERDICTS if word in verdicts)
    options = "".join(f'<option value="{word}">{word}</option>' for word in VERDICTS if word in verdicts)
    parts = "".join(f'<option value="{key}">{name}</option>' for key, name in PARTS.items())
    documents = "".join(f'<option value="{key}">{name}</option>' for key, name in NAMES.items())
    return (
        f'<p class="gm-tally">{len(found)} claims: {tally}.</p>'
        '<form class="gm-filter" hidden>'
        f'<label>Verdict <select name="verdict"><option value="">all</option>{options}</select></label>'
        f'<label>Part <select name="part"><option value="">all</option>{parts}</select></label>'
        f'<label>Document <select name="document"><option value="">both</option>{documents}</select></label>'
        '<output aria-live="polite"></output></form>'
    )


def to_json(pages: dict[str, list[str]]) -> str:
    """Return the ledger as JSON, for download, with the pages that ``used_by`` found."""
    rows = [
        {**record.row, "part": part_of(record, pages.get(record.id, [])), "pages": pages.get(record.id, [])}
        for record in registry().claims.values()
    ]
    return json.dumps({"claims": rows}, indent=2, ensure_ascii=False) + "\n"
