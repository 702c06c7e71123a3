"""The bibliography: every source of the registry, with its address, what was read of it, and its facts."""

from html import escape

from gpumoat.facts import Record, registry


def entries() -> list[tuple[str, str]]:
    """Return each source's id and its HTML, in the order of their short names."""
    known = registry()
    by_source: dict[str, list[Record]] = {id: [] for id in known.sources}
    for fact in known.facts.values():
        by_source.setdefault(fact.text("source"), []).append(fact)
    ordered = sorted(known.sources.values(), key=lambda source: (source.text("short").lower(), source.id))
    return [(source.id, _source_html(source, by_source[source.id])) for source in ordered]


def _source_html(source: Record, facts: list[Record]) -> str:
    title = escape(source.text("title"))
    url = source.text("url")
    linked = f'<a href="{escape(url)}">{title}</a>' if url else f"<cite>{title}</cite>"
    by = ", ".join(part for part in (_authors(source), source.text("publisher"), source.text("published")) if part)
    copy = f'<p class="gm-copy">Read: {escape(source.text("copy"))}</p>' if source.text("copy") else ""
    rows = "".join(
        f"<li>{escape(fact.text('statement'))} <small>{escape(fact.text('locator'))}; "
        f"{fact.text('status')}, checked {fact.text('checked')}</small></li>"
        for fact in facts
    )
    listing = f"<ul>{rows}</ul>" if rows else ""
    head = f"<p><b>{escape(source.text('short'))}</b>. {linked}. {escape(by)}.</p>"
    return head + copy + listing


def _authors(source: Record) -> str:
    authors = source.row.get("authors")
    return ", ".join(str(author) for author in authors) if isinstance(authors, list) else source.text("authors")
