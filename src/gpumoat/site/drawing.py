"""What all drawings share: the page's colours, the font, the widths, and how axes look."""

from __future__ import annotations

from typing import Any

import altair
import vl_convert

# The chart library wants colours, the page wants variables: each stands for the other while it draws.
STAND_INS = {
    "#0a0a01": ("--gm-ink", "#1f2328"),
    "#0a0a02": ("--gm-soft", "#5a6169"),
    "#0a0a03": ("--gm-rule", "#dedad1"),
    "#0a0a04": ("--gm-paper", "#fbfaf7"),
    "#0a0b01": ("--gm-c1", "#9a4f1c"),
    "#0a0b02": ("--gm-c2", "#264fab"),
    "#0a0b03": ("--gm-c3", "#1a8c95"),
    "#0a0b04": ("--gm-c4", "#c97c00"),
    "#0a0b05": ("--gm-c5", "#6a2852"),
    "#0a0b06": ("--gm-c6", "#3e0e08"),
}
"""The page's variable, and its value in the light scheme, for each colour that a chart is drawn with."""

INK, SOFT, RULE, PAPER, *COLOURS = STAND_INS
FONT = "system-ui, sans-serif"
WIDTHS = {"wide": 680, "narrow": 300}
"""Pixels of a drawing, for a column of text and for a phone."""

LETTER = 7
"""Pixels of a letter of an axis, generously: the reader's font may be wider than the one measured here."""


def axis_title(text: str, pixels: float) -> str | list[str]:
    """Return the title of an axis, broken into lines where the axis is shorter than the words.

    The chart library lets a title that is too long run out of the drawing, where it is cut. A single word that is
    longer than the axis stays whole.
    """
    lines: list[str] = []
    for word in text.split():
        if lines and len(f"{lines[-1]} {word}") * LETTER <= pixels:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines if len(lines) > 1 else text


def to_svg(picture: Any, right: int = 5) -> str:
    """Turn a chart into SVG, in the look of all drawings.

    Args:
        picture: The chart.
        right: Room on the right, for what may reach beyond the end of an axis.
    """
    dressed = (
        picture.configure(
            font=FONT,
            background="transparent",
            autosize=altair.AutoSizeParams(type="fit-x", contains="padding"),
            padding={"left": 5, "top": 5, "bottom": 5, "right": right},
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=SOFT,
            gridColor=RULE,
            domainColor=RULE,
            tickColor=RULE,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelFont=FONT,
            titleFont=FONT,
        )
        .configure_text(font=FONT, fontSize=12, color=INK)
    )
    return str(vl_convert.vegalite_to_svg(dressed.to_json()))
