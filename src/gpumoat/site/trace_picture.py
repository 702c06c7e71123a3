"""Pictures of what a simulated kernel touches, drawn from the records that ``gpumoat.simt`` gives.

Four kinds, all made of the same marks on a grid:

- ``touches``: elements of an array along the bottom, threads downwards. Strips make a staircase, a grid-stride makes
  stripes; an element that nobody writes is an empty column, one that two threads write has two marks above each other.
- ``cells``: an array of two axes as it lies, each cell coloured by who touches it.
- ``request``: one request of a warp. Along the bottom the bytes of the sectors that it touches, sector by sector, lanes
  downwards: what is not covered is fetched and thrown away.
- ``banks``: one request to shared memory. Banks along the bottom, turns downwards: without a conflict it is one row.

A frame is a load, a filled mark is a store, a diamond is an atomic operation, so reads and writes differ without
colour; colours repeat after six, and where there is room each cell names its thread.

Left out: values, and time.
"""

from __future__ import annotations

from html import escape
from typing import Any

import altair

from gpumoat.simt.banks import BANKS
from gpumoat.simt.record import KINDS
from gpumoat.simt.requests import SECTOR_BYTES
from gpumoat.site.drawing import COLOURS, INK, PAPER, RULE, SOFT, STAND_INS, axis_title

CHARTS = ("touches", "cells", "request", "banks")
"""What a picture of a trace can be."""

MARKS = 4000
"""The most marks that a picture holds; more can be neither seen nor loaded quickly."""

_AXIS = 46
"""Pixels that labels and title of the vertical axis take."""

_TITLE = 60
"""Pixels that a title of the vertical axis may take, however low the picture is."""

_LABELLED = 17
"""Pixels of the smallest cell that has room for a number."""


def keys_html(kinds: list[str]) -> str:
    """Return what each mark stands for, as a list in HTML.

    Raises:
        ValueError: There is no such kind of access.
    """
    _check_kinds(kinds)
    items = [
        f'<li class="gm-key-{kind}" style="--gm-key:var({STAND_INS[COLOURS[0]][0]})">{escape(kind)}</li>'
        for kind in KINDS
        if kind in kinds
    ]
    return f'<ul class="gm-keys">{"".join(items)}</ul>'


def grid(chart: str, records: list[dict[str, Any]], titles: dict[str, str], width: int) -> Any:
    """Draw marks on a grid.

    Args:
        chart: One of ``CHARTS``.
        records: What to mark: ``x`` and ``y`` as whole numbers, ``high`` as the last place of a mark that goes on to
            the right, ``kind`` (a load where it is left out, and a store in ``cells`` and ``banks``), ``color`` to tell
            threads apart, and ``label`` to name it.
        titles: The words at the axes, ``x`` and ``y``.
        width: Pixels in all.

    Raises:
        ValueError: There are too many marks, or a field is missing or is no whole number; the message says what
            would be right.
    """
    if len(records) > MARKS:
        raise ValueError(f"a picture of a trace holds {MARKS:,} marks, not {len(records):,}: show a part of the array")
    default = "store" if chart in ("cells", "banks") else "load"
    marks = [_mark(record, default) for record in records]
    _check_kinds([mark["kind"] for mark in marks])
    left, right, top, bottom = _edges(chart, marks)
    columns, rows = right - left, bottom - top
    cell = (width - _AXIS) / columns
    if chart in ("cells", "banks"):
        cell = min(cell, 30)
    height = _height(chart, cell, rows)
    x_title, y_title = axis_title(titles["x"], columns * cell), axis_title(titles["y"], max(height, _TITLE))
    labelled = chart in ("cells", "banks") and cell >= _LABELLED and height / rows >= _LABELLED
    x = altair.X(
        "left:Q",
        scale=altair.Scale(domain=[left, right], nice=False),
        title=x_title,
        axis=_x_axis(chart, left, right),
    )
    y_axis = altair.Axis(grid=False, tickMinStep=1, tickCount=min(5, rows), format="d")
    y = altair.Y(
        "top:Q", scale=altair.Scale(domain=[top, bottom], reverse=True, nice=False), title=y_title, axis=y_axis
    )
    spans = {"x": x, "y": y, "x2": "right:Q", "y2": "bottom:Q"}
    fill = altair.Color("fill:N", scale=None)
    stroke = altair.Stroke("fill:N", scale=None)
    layers = _ground(chart, x, y, (left, right, top, bottom))
    thin = max(0.8, min(1.2, cell / 3, height / rows / 3))

    def of(kind: str, inset: float) -> Any:
        beside = inset if chart == "cells" else 0.0  # frames side by side would share a line
        held = [
            {
                **mark,
                "left": mark["left"] + beside,
                "right": mark["right"] - beside,
                "top": mark["y"] - 0.5 + inset,
                "bottom": mark["y"] + 0.5 - inset,
            }
            for mark in marks
            if mark["kind"] == kind
        ]
        return altair.Chart(altair.Data(values=held)), bool(held)

    stores, any_store = of("store", 0.2 if chart == "touches" else 0.04)
    if any_store:
        tint = 0.3 if labelled else 1
        mark = stores.mark_rect(fillOpacity=tint, strokeWidth=thin if labelled else 0.7)
        layers.append(mark.encode(**spans, fill=altair.Fill("fill:N", scale=None), stroke=stroke))
    loads, any_load = of("load", 0.08 if chart == "cells" else 0.04)
    if any_load:
        solid = chart == "request"  # nothing else is in this picture, and what is covered must be seen
        mark = loads.mark_rect(filled=solid, strokeWidth=0.3 if solid else thin)
        layers.append(mark.encode(**spans, color=fill, stroke=stroke))
    atomics, any_atomic = of("atomic", 0.1)
    if any_atomic:
        size = max(12, min(cell, height / rows) ** 2 / 2)
        mark = atomics.mark_point(shape="diamond", filled=True, size=size, opacity=1)
        layers.append(mark.encode(x=altair.X("x:Q", title=x_title), y=altair.Y("y:Q", title=y_title), color=fill))
    if labelled:
        named = [mark for mark in marks if mark["label"]]
        words = altair.Chart(altair.Data(values=named)).mark_text(fontSize=11, color=INK)
        layers.append(
            words.encode(x=altair.X("middle:Q", title=x_title), y=altair.Y("y:Q", title=y_title), text="label:N")
        )
    return altair.layer(*layers).properties(width=round(min(width, columns * cell + _AXIS)), height=round(height))


def _mark(record: dict[str, Any], default: str) -> dict[str, Any]:
    """Return a mark: where it lies, its kind, colour and label."""
    for field in ("x", "y", "high"):
        value = record.get(field, 0)
        if not isinstance(value, (int, float)) or value != int(value):
            raise ValueError(f"{field} must be a whole number in a picture of a trace, not {value!r}")
    first, last = int(record["x"]), int(record.get("high", record["x"]))
    if last < first:
        raise ValueError(f"a mark ends at {last:,}, before it begins at {first:,}: high must be at least x")
    colour = record.get("color", 0)
    number = int(colour) if isinstance(colour, (int, float)) else sum(map(ord, str(colour)))
    return {
        "x": first,
        "y": int(record["y"]),
        "left": first - 0.5,
        "right": last + 0.5,
        "middle": (first + last) / 2,
        "last": last,
        "kind": record.get("kind", default),
        "fill": COLOURS[number % len(COLOURS)],
        "label": record.get("label", ""),
    }


def _check_kinds(kinds: list[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")


def _edges(chart: str, marks: list[dict[str, Any]]) -> tuple[float, float, float, float]:
    """Return left, right, top and bottom of what is to be seen, half a place beyond the outermost marks."""
    left, right = min(mark["x"] for mark in marks), max(mark["last"] for mark in marks)
    top, bottom = min(mark["y"] for mark in marks), max(mark["y"] for mark in marks)
    if chart == "request":
        left, right = 0, (right // SECTOR_BYTES + 1) * SECTOR_BYTES - 1
    if chart == "banks":
        left, right, top = 0, BANKS - 1, 1
    return left - 0.5, right + 0.5, top - 0.5, bottom + 0.5


def _height(chart: str, cell: float, rows: float) -> float:
    if chart in ("cells", "banks"):
        return max(rows * cell, 24)
    return max(28, min(440, rows * (20 if rows <= 12 else 9)))


def _x_axis(chart: str, left: float, right: float) -> altair.Axis:
    if chart != "request" and right - left == 1:
        return altair.Axis(grid=False, values=[left + 0.5], format="d")
    if chart != "request":
        return altair.Axis(grid=False, tickMinStep=1, tickCount=6, format="d", labelFlush=True)
    sectors = round(right - left) // SECTOR_BYTES
    step = next(step for step in (1, 2, 4, 8, 16, sectors) if sectors / step <= 8)
    values = [sector * SECTOR_BYTES - 0.5 for sector in range(0, sectors + 1, step)]
    return altair.Axis(grid=False, values=values, labelExpr=f"round(datum.value / {SECTOR_BYTES})")


def _ground(chart: str, x: Any, y: Any, edges: tuple[float, float, float, float]) -> list[Any]:
    """Return what lies under the marks: the cells of an array, the sectors of a request, the banks."""
    left, right, top, bottom = edges
    if chart == "touches":
        frame = [{"left": left, "right": right, "top": top, "bottom": bottom}]
        ground = altair.Chart(altair.Data(values=frame)).mark_rect(filled=False, stroke=RULE, strokeWidth=1)
        return [ground.encode(x=x, x2="right:Q", y=y, y2="bottom:Q")]
    wide = SECTOR_BYTES if chart == "request" else 1
    columns = [
        {"left": left + wide * place, "right": left + wide * (place + 1), "top": top, "bottom": bottom}
        for place in range(round((right - left) / wide))
    ]
    ground = altair.Chart(altair.Data(values=columns)).mark_rect(
        fill=PAPER, stroke=SOFT if chart == "request" else RULE, strokeWidth=0.8
    )
    layers = [ground.encode(x=x, x2="right:Q", y=y, y2="bottom:Q")]
    if chart != "request":
        lines = [{"top": top + place, "left": left} for place in range(1, round(bottom - top))]
        if lines:
            layers.append(altair.Chart(altair.Data(values=lines)).mark_rule(color=RULE, strokeWidth=0.8).encode(y=y))
    return layers
