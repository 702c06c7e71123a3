"""The picture of a whole launch as one file that stands alone: SVG, or HTML for the light and the dark scheme.

What is shown is chosen so that it can be read: of each global array the elements that the first warp touches, of each
shared array what the first block does with it, and of each array the costliest line's first request. An array of two
axes is shown as it lies, by its first rows and columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from gpumoat.simt.record import WARP_LANES, Array
from gpumoat.simt.report import Report
from gpumoat.simt.requests import SECTOR_BYTES
from gpumoat.simt.summary import launch_text
from gpumoat.site import trace_picture
from gpumoat.site.drawing import FONT, INK, PAPER, SOFT, STAND_INS, WIDTHS, to_svg
from gpumoat.site.figures import dress

MARKS = 2200
"""Marks of one picture; what comes after them is left out, and said to be."""

SIDE = 32
"""Rows and columns of an array of two axes that are shown."""

_DARK = {
    "--gm-ink": "#e4e2dd",
    "--gm-soft": "#a6abb1",
    "--gm-rule": "#34383d",
    "--gm-paper": "#15171a",
    "--gm-c1": "#e2a06a",
    "--gm-c2": "#6674d9",
    "--gm-c3": "#62b4e8",
    "--gm-c4": "#f2e08a",
    "--gm-c5": "#b25c5e",
    "--gm-c6": "#c9f2ee",
}


@dataclass
class Panel:
    """One picture of several.

    Attributes:
        title: What it shows.
        text: How to read it, in a sentence or two.
        chart: One of ``trace_picture.CHARTS``.
        records: Its marks.
        titles: The words at its axes.
    """

    title: str
    text: str
    chart: str
    records: list[dict[str, Any]]
    titles: dict[str, str]

    def svg(self, size: str, name: str) -> str:
        """Draw it."""
        drawn = to_svg(trace_picture.grid(self.chart, self.records, self.titles, WIDTHS[size]))
        return dress(drawn, name, self.title, self.text, size)


def panels(report: Report) -> list[Panel]:
    """Choose what to show of a launch."""
    out = []
    block = min(report.record.in_block, default=0)
    used = set(report.record.array)
    for array in report.record.arrays:
        if array.number not in used or array.space not in ("global", "shared"):
            continue
        if sum(each.name == array.name and each.space == array.space for each in report.record.arrays) > 1:
            continue  # two arrays of one name cannot be told apart by it
        out.append(_touches(report, array, block))
        out += _request(report, array, block) if array.space == "global" else _banks(report, array, block)
    return out


def _kinds_text(kinds: set[str]) -> str:
    said = {
        "load": "a frame is a load",
        "store": "a filled mark is a store",
        "atomic": "a diamond is an atomic operation",
    }
    return ", ".join(text for kind, text in said.items() if kind in kinds)


def _touches(report: Report, array: Array, block: int) -> Panel:
    records = [each for each in report.touches(array.name) if each["block"] == block]
    flat = len(array.shape) == 1
    if flat:
        warp = min((int(each["warp"]) for each in records), default=0)
        records = [each for each in records if each["warp"] == warp]
    else:
        records = [each for each in records if int(each["row"]) < SIDE and int(each["first"]) < SIDE]
    shown = sorted(records, key=lambda each: (each["row"], each["first"]))[:MARKS]
    marks = [
        {
            "x": each["first"],
            "high": each["last"] if flat else min(int(each["last"]), SIDE - 1),
            "y": each["thread"] if flat else each["row"],
            "kind": each["kind"],
            "color": each["thread"] if flat else each["warp"],
        }
        for each in shown
    ]
    who = f"the threads of warp {warp}" if flat else "each warp, by colour,"
    cut = f" Only the first {MARKS:,} marks are shown." if len(records) > MARKS else ""
    part = "" if flat else f" Only rows and columns before {SIDE} are shown."
    text = f"What {who} of block {block} touch: {_kinds_text({str(each['kind']) for each in shown})}.{cut}{part}"
    titles = {"x": f"Element of {array.name}" if flat else "Column", "y": "Thread" if flat else "Row"}
    return Panel(f"{array.name}: who touches what", text, "touches" if flat else "cells", marks, titles)


def _lines(report: Report, array: Array, kind: str, block: int) -> list[int]:
    """Return the lines at which the first warp of a block touches an array in a way."""
    record = report.record
    columns = zip(record.array, record.kind, record.in_block, record.thread, record.site, strict=True)
    wanted = ("load", "store", "atomic").index(kind)
    return sorted(
        {
            record.sites[site].line
            for number, how, where, thread, site in columns
            if (number, how, where) == (array.number, wanted, block) and thread < WARP_LANES
        }
    )


def _request(report: Report, array: Array, block: int) -> list[Panel]:
    out = []
    for kind in ("load", "store", "atomic"):
        lines = _lines(report, array, kind, block)
        if not lines:
            continue
        line = max(lines, key=lambda each: report.requests(array.name, kind, each).sectors_per_request)
        lanes = report.request(array.name, kind, line, block)
        marks = [{"x": each["begin"], "high": each["end"], "y": each["lane"], "color": each["lane"]} for each in lanes]
        cost = report.requests(array.name, kind, line)
        text = (
            f"Each column is a sector of {SECTOR_BYTES} bytes that is fetched; what no lane covers is thrown away. "
            f"All requests of this line: {cost}."
        )
        title = f"{array.name}: one {kind} request, line {line}"
        out.append(Panel(title, text, "request", marks, {"x": "Sectors touched", "y": "Lane"}))
    return out


def _banks(report: Report, array: Array, block: int) -> list[Panel]:
    costs = {
        (kind, line): report.bank_conflicts(array.name, kind, line)
        for kind in ("load", "store")
        for line in _lines(report, array, kind, block)
    }
    if not costs:
        return []
    kind, line = max(costs, key=lambda each: costs[each].max_ways)
    words = report.bank_words(array.name, kind, line, block)
    marks = [
        {"x": each["bank"], "y": each["turn"], "color": each["lane"], "label": str(each["lane"])} for each in words
    ]
    cost = costs[kind, line]
    text = f"Each row is a turn, each mark a word that its bank gives, with its lane. All of this line: {cost}."
    title = f"{array.name}: the banks of one {kind} request, line {line}"
    return [Panel(title, text, "banks", marks, {"x": "Bank", "y": "Turn"})]


def svg_file(report: Report) -> str:
    """Return all pictures below each other as one SVG in the colours of the light scheme."""
    width, margin, top = WIDTHS["wide"] + 40, 20, 20
    parts = []
    for line in _wrapped(launch_text(report.record), 75):
        top += 20
        parts.append(_words(line, margin, top, 16, INK))
    top += 40
    for number, panel in enumerate(panels(report)):
        parts.append(_words(panel.title, margin, top, 15, INK, "bold"))
        for line in _wrapped(panel.text):
            top += 18
            parts.append(_words(line, margin, top, 12, SOFT))
        top += 12
        inner = panel.svg("wide", f"panel-{number}")
        height = float(inner.split(' height="', 1)[1].split('"', 1)[0])
        parts.append(inner.replace("<svg ", f'<svg x="{margin}" y="{top}" ', 1))
        top += round(height) + 44
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}">'
    body = "\n".join([head, f'<rect width="{width}" height="{top}" fill="{PAPER}"/>', *parts, "</svg>\n"])
    for colour, (variable, fallback) in STAND_INS.items():
        body = body.replace(f"var({variable}, {fallback})", fallback).replace(colour, fallback)
    return body


def html_file(report: Report) -> str:
    """Return all pictures and the report as text, as one page for the light and the dark scheme."""
    title = escape(launch_text(report.record))
    light = ";".join(f"{variable}:{colour}" for variable, colour in STAND_INS.values())
    dark = ";".join(f"{variable}:{colour}" for variable, colour in _DARK.items())
    figures = [
        f"<figure><h2>{escape(panel.title)}</h2><figcaption>{escape(panel.text)}</figcaption>"
        f"{panel.svg('wide', f'panel-{number}-wide')}{panel.svg('narrow', f'panel-{number}-narrow')}</figure>"
        for number, panel in enumerate(panels(report))
    ]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{{light}}}
@media (prefers-color-scheme: dark) {{:root {{{dark}}}}}
body {{background: var(--gm-paper); color: var(--gm-ink); font: 16px/1.5 {FONT}; max-width: 44rem; margin: 1rem auto;
padding: 0 1rem}}
h1, h2 {{font-size: 1.1rem; margin: 2rem 0 0.3rem}}
figure {{margin: 0}}
figcaption {{color: var(--gm-soft); font-size: 0.85rem; margin-bottom: 0.6rem}}
pre {{white-space: pre-wrap; font-size: 0.85rem}}
svg {{display: block; max-width: 100%; height: auto}}
.gm-narrow {{display: none}}
@media (max-width: 45rem) {{.gm-wide {{display: none}} .gm-narrow {{display: block}}}}
</style>
</head>
<body>
<h1>{title}</h1>
<pre>{escape(report.summary().partition(chr(10))[2])}</pre>
{"".join(figures)}
</body>
</html>
"""


def _words(text: str, x: float, y: float, size: int, colour: str, weight: str = "normal") -> str:
    style = f'font-family="{FONT}" font-size="{size}" font-weight="{weight}" fill="{colour}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


def _wrapped(text: str, letters: int = 105) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > letters:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
