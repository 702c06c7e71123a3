"""Figures: records of an example, drawn by Altair and turned into SVG at build time.

A chart is drawn twice, for a wide and for a narrow page, since text that is scaled down cannot be read. The
colours are CSS variables with fallbacks, so that one drawing serves the light and the dark scheme and the
printer. Dates along the bottom of lines and points lie in time, however unevenly they follow. Axis ticks are
the chart library's own; every other text in the drawing is a title, a name of a record, or a formatted field
of the data, and ``stray_texts`` finds any that is not.
"""

import re
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Any
from xml.etree import ElementTree

import altair

from gpumoat.site import trace_picture
from gpumoat.site.drawing import COLOURS, LETTER, PAPER, STAND_INS, WIDTHS, axis_title, to_svg
from gpumoat.site.numbers import Number
from gpumoat.site.page import Column, Table
from gpumoat.units import display_unit, name_unit, parse_spec

CHARTS = ("bars", "stacked", "lines", "points", *trace_picture.CHARTS)
"""What a figure can be: bars side by side, bars made of parts, lines through points, points alone, or what a simulated
kernel touches."""

SCALES = ("", "log")
"""How numbers lie on their axis: by size, or by its logarithm where they lie orders of magnitude apart."""

_AXIS = 60
"""Pixels that labels and title of a vertical axis of numbers take."""

_drawn: dict[tuple[object, ...], str] = {}
"""Drawings of this process: the check and the builder, and each copy of a page, ask for the same ones."""


@dataclass
class Drawing:
    """A chart as two SVG texts.

    Attributes:
        wide: For a column of text.
        narrow: For a phone.
        keys: What each colour stands for, as a list in HTML: it wraps where a drawing cannot.
    """

    wide: str
    narrow: str
    keys: str


def draw(
    chart: str, table: Table, roles: dict[str, int], name: str, title: str, alternative: str, scale: str = ""
) -> Drawing:
    """Draw a chart.

    Args:
        chart: One of ``CHARTS``.
        table: The records; each column that a role names is drawn.
        roles: Column numbers by role: ``x``, ``y``, and where wanted ``color``, and ``low`` with ``high`` for a band
            behind a line. Pictures of a trace take ``high`` as the end of what begins at ``x``, and ``kind``.
        name: The figure's name on its page; ids in the drawing begin with it.
        title: Short title for a screen reader.
        alternative: What the chart shows, in words.
        scale: One of ``SCALES``, for every axis of numbers.

    Raises:
        ValueError: The chart cannot be drawn so; the message says what would be right.
    """
    if scale == "log" and chart not in ("lines", "points"):
        raise ValueError(f"{chart} begin at zero, which a log scale does not have: take points or lines")
    drawn = {
        size: dress(_svg(chart, table, roles, size, scale), f"{name}-{size}", title, alternative, size)
        for size in WIDTHS
    }
    return Drawing(**drawn, keys=_keys(chart, table, roles))


def _names(table: Table, index: int) -> list[str]:
    """Return the names in a column, each once, in the order of the records."""
    return list(dict.fromkeys(str(row[index]) for row in table.rows))


def _keys(chart: str, table: Table, roles: dict[str, int]) -> str:
    if chart in trace_picture.CHARTS:
        return trace_picture.keys_html(_names(table, roles["kind"])) if "kind" in roles else ""
    if "color" not in roles:
        return ""
    items = [
        f'<li style="--gm-key:var({STAND_INS[colour][0]})">{escape(name)}</li>'
        for name, colour in zip(_names(table, roles["color"]), COLOURS, strict=False)
    ]
    return f'<ul class="gm-keys">{"".join(items)}</ul>'


def shown_value(column: Column, number: Number) -> float:
    """Return a number in the display unit of its column, for the chart's scale."""
    held = name_unit(number.origin.name)
    unit = parse_spec(column.spec).unit
    if not unit or unit == "%":
        return number.origin.value * (100 if unit == "%" or held.dimension == "share" else 1)
    shown = display_unit(unit)
    top, bottom = held.numerator * shown.denominator, held.denominator * shown.numerator
    return number.origin.value * top / bottom


def _svg(chart: str, table: Table, roles: dict[str, int], size: str, scale: str) -> str:
    records = [_record(table, row, roles) for row in table.rows]
    if chart in trace_picture.CHARTS:
        for record, row in zip(records, table.rows, strict=True):
            cell = row[roles["color"]] if "color" in roles else None
            record["label"] = cell.text if isinstance(cell, Number) else cell or ""
    title = {role: table.columns[index].title for role, index in roles.items()}
    key = (chart, size, scale, repr(records), repr(title), repr(roles))
    if key not in _drawn:
        _drawn[key] = _new_svg(chart, table, roles, size, scale, records, title)
    return _drawn[key]


def _new_svg(
    chart: str,
    table: Table,
    roles: dict[str, int],
    size: str,
    scale: str,
    records: list[dict[str, Any]],
    title: dict[str, str],
) -> str:
    if chart in trace_picture.CHARTS:
        return to_svg(trace_picture.grid(chart, records, title, WIDTHS[size]))
    numeric = {role: not isinstance(table.rows[0][index], str) for role, index in roles.items()}
    short: dict[str, Any] = {"format": "~s"} if scale == "log" else {}  # 100k, 1M: the labels have little room
    if scale == "log" and any(record[role] <= 0 for record in records for role in ("x", "y") if numeric[role]):
        raise ValueError("a log scale shows numbers above zero only")
    x_axis = altair.Axis(tickCount=5 if size == "wide" else 3, grid=numeric["x"], labelLimit=0, **short)
    in_time = chart in ("lines", "points") and _is_dates(table, roles["x"])
    if in_time:
        x_axis = altair.Axis(tickCount=5 if size == "wide" else 4, tickMinStep=1, format="d", labelLimit=0)
        numeric["x"] = True
    # The reader's font may be wider than the one that the drawing was measured with: leave room for the labels.
    room = 8 + LETTER * max((len(name) for name in _names(table, roles["y"])), default=0) if not numeric["y"] else 0
    height = 26 * len({record["y"] for record in records}) if not numeric["y"] else 260
    beside = room or _AXIS  # what labels and title of the vertical axis leave for the other
    titled = {"x": axis_title(title["x"], WIDTHS[size] - beside), "y": axis_title(title["y"], height)}
    y_axis = altair.Axis(grid=numeric["y"], labelLimit=0, tickCount=5, minExtent=room)
    kinds: dict[str, Any] = {role: "quantitative" if numeric[role] else "nominal" for role in roles}
    encoding: dict[str, Any] = {
        "x": altair.X("x", type=kinds["x"], title=titled["x"] if numeric["x"] else None, sort=None, axis=x_axis),
        "y": altair.Y("y", type=kinds["y"], title=titled["y"] if numeric["y"] else None, sort=None, axis=y_axis),
    }
    if chart in ("lines", "points"):
        for role, channel in (("x", altair.X), ("y", altair.Y)):
            if numeric[role]:
                axis = x_axis if role == "x" else y_axis
                logged = scale == "log" and not (role == "x" and in_time)
                kind: dict[str, Any] = {"type": "log"} if logged else {"zero": False}
                spread = altair.Scale(nice=True, **kind)
                field = "year" if role == "x" and in_time else role
                encoding[role] = channel(field, type="quantitative", title=titled[role], axis=axis, scale=spread)
    number_role = "x" if numeric["x"] else "y"
    if chart == "bars" and any(record[number_role] < 0 for record in records):
        encoding[number_role].scale = altair.Scale(padding=30)  # room for a label beyond the end below zero
    if "color" in roles:
        names = _names(table, roles["color"])
        if len(names) > len(COLOURS):
            raise ValueError(
                f"a figure tells {len(COLOURS)} parts apart, not {len(names)}: put the small ones together"
            )
        colours = altair.Scale(domain=names, range=COLOURS[: len(names)])
        encoding["color"] = altair.Color("color:N", sort=None, scale=colours, legend=None)
        encoding["order"] = altair.Order("order:Q")
    base = altair.Chart(altair.Data(values=records))
    marks = {
        "bars": base.mark_bar(color=COLOURS[0]),
        # A line of paper between the parts tells them apart without colour.
        "stacked": base.mark_bar(color=COLOURS[0], stroke=PAPER, strokeWidth=1.5),
        "lines": base.mark_line(color=COLOURS[0], point=True),
        "points": base.mark_point(color=COLOURS[0], filled=True, size=60),
    }
    layers = [marks[chart].encode(**encoding)]
    if "low" in roles and "high" in roles:
        layers.insert(0, _band(records, encoding, titled["y"]))
    if chart in ("bars", "stacked"):
        layers += _totals(records, encoding, number_role)
    elif chart == "points" and numeric["x"] and not numeric["y"] and not in_time:
        layers += _beside(records, encoding)
    picture = altair.layer(*layers).properties(width=WIDTHS[size], height=height)
    # A label at the end of the longest bar may be wider in the reader's font than in the one measured here.
    return to_svg(picture, right=_room(records) if chart == "bars" else 5)


def _room(records: list[dict[str, Any]]) -> int:
    """Return the pixels to leave for a label that is a sixth wider in the reader's font than in the one measured."""
    return 8 + max((len(record["label"]) for record in records), default=0) * 6 // 5


def _band(records: list[dict[str, Any]], encoding: dict[str, Any], title: str | list[str]) -> altair.Chart:
    """Return the area between the bounds of a line, in its colour; a line without bounds has none."""
    bounded = [record for record in records if isinstance(record["low"], (int, float))]
    places = {key: value for key, value in encoding.items() if key in ("x", "color")}
    band = altair.Chart(altair.Data(values=bounded)).mark_area(color=COLOURS[0], opacity=0.2)
    return band.encode(y=altair.Y("low:Q", title=title), y2="high:Q", **places)


def _totals(records: list[dict[str, Any]], encoding: dict[str, Any], role: str) -> list[altair.Chart]:
    """Return the labels at the ends of bars: the formatted number, for one part; nothing where bars are stacked."""
    places = {key: value for key, value in encoding.items() if key in ("x", "y")}
    sides: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        ({"dx": 4, "align": "left"} if role == "x" else {"dy": -6}, [one for one in records if one[role] >= 0]),
        ({"dx": -4, "align": "right"} if role == "x" else {"dy": 12}, [one for one in records if one[role] < 0]),
    ]
    return [
        altair.Chart(altair.Data(values=labelled)).mark_text(**offset).encode(text="label:N", **places)
        for offset, side in sides
        if (labelled := [record for record in side if record["label"]])
    ]


def _beside(records: list[dict[str, Any]], encoding: dict[str, Any]) -> list[altair.Chart]:
    """Return the labels of points that have a name each: every label on the side where there is more room."""
    places = {key: value for key, value in encoding.items() if key in ("x", "y")}
    ordered = sorted(record["x"] for record in records)
    log = encoding["x"].to_dict().get("scale", {}).get("type") == "log"
    middle = (ordered[0] * ordered[-1]) ** 0.5 if log else (ordered[0] + ordered[-1]) / 2
    sides: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        ({"dx": 9, "align": "left"}, [record for record in records if record["label"] and record["x"] <= middle]),
        ({"dx": -9, "align": "right"}, [record for record in records if record["label"] and record["x"] > middle]),
    ]
    return [
        altair.Chart(altair.Data(values=side)).mark_text(**offset).encode(text="label:N", **places)
        for offset, side in sides
        if side
    ]


def _record(table: Table, row: list[Number | str | None], roles: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {"label": "", "order": table.rows.index(row)}
    for role, index in roles.items():
        cell = row[index]
        if isinstance(cell, Number):
            found[role] = shown_value(table.columns[index], cell)
            if "color" not in roles:
                found["label"] = cell.text
        else:
            found[role] = cell or ""
            if role == "x":
                found["year"] = year_of(cell or "")
    return found


def year_of(text: str) -> float | None:
    """Return a date, a month or a year as a position on an axis of years; None for any other text.

    ``2025-07-02`` is the middle of 2025. A month lies at its first day, a year alone at its middle.
    """
    if not re.fullmatch(r"\d{4}(-\d{2}){0,2}", text):
        return None
    year, *rest = (int(part) for part in text.split("-"))
    try:
        day = date(year, *([*rest, 1][:2] if rest else (7, 2)))
    except ValueError:
        return None
    return year + (day - date(year, 1, 1)).days / (date(year + 1, 1, 1) - date(year, 1, 1)).days


def _is_dates(table: Table, index: int) -> bool:
    return all(isinstance(row[index], str) and year_of(str(row[index])) is not None for row in table.rows)


def dress(svg: str, name: str, title: str, alternative: str, size: str) -> str:
    """Give a drawing its colours, its alternative text, ids of its own, and the freedom to shrink."""
    for colour, (variable, fallback) in STAND_INS.items():
        svg = svg.replace(f'"{colour}"', f'"var({variable}, {fallback})"')
    ids = sorted(set(re.findall(r'\bid="([^"]+)"', svg)), key=len, reverse=True)
    for one in ids:
        svg = svg.replace(f'id="{one}"', f'id="{name}-{one}"').replace(f"url(#{one})", f"url(#{name}-{one})")
    # The drawing is one image to a screen reader: its parts say nothing that the alternative does not.
    svg = re.sub(r' (?:role|aria-roledescription|aria-label|aria-hidden)="[^"]*"', "", svg)
    svg = svg.replace(' xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1"', "")
    head = f'<svg role="img" class="gm-{size}" aria-labelledby="{name}-title {name}-desc"'
    svg = re.sub(r'<svg\b([^>]*?) class="marks"', lambda found: head + found[1], svg, count=1)
    words = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(alternative)}</desc>'
    return re.sub(r"(<svg\b[^>]*>)", lambda found: found[1] + words, svg, count=1)


def stray_texts(svg: str, allowed: set[str]) -> list[str]:
    """Return the texts of a drawing that are no axis tick and none of the texts allowed.

    A text mark must equal a formatted field of the data, so a number can no more be typed into a drawing than
    into prose.
    """
    found: list[str] = []

    def walk(node: ElementTree.Element, tick: bool) -> None:
        tick = tick or "role-axis-label" in node.get("class", "")
        # A title of several lines is one text: its lines are parts of the node.
        text = " ".join(node.itertext()) if node.tag.rsplit("}", 1)[-1] == "text" else ""
        if text and text not in allowed and not (tick and any(character.isdigit() for character in text)):
            found.append(text)
        for child in node:
            walk(child, tick)

    walk(ElementTree.fromstring(svg), False)
    return found
