"""Inline numbers: finding ``{{ name:format }}`` in text, and making a shown number of it.

The scanner counts brackets and knows strings, so that ``{{ fact("a}}b") }}`` ends where it ends; the format
begins at the last colon outside brackets. What is not allowed between the braces is named here, in one
place, before Python ever sees it. Left out: where on a page a number stands (``gpumoat.site.markdown``).
"""

import re
from dataclasses import dataclass

from gpumoat.facts import Record
from gpumoat.site.provenance import ExpressionError, Origin
from gpumoat.units import BASES, Unit, UnitError, format_value, name_unit

OPEN, CLOSE = "{{", "}}"


class NumberError(ValueError):
    """An inline number is wrong; the message says what would be right."""


@dataclass(frozen=True)
class Inline:
    """What stands between two pairs of braces.

    Attributes:
        expression: The name, attribute, index or door call.
        spec: The format after the last colon, or empty.
        raw: The whole text, braces included, as the page has it.
    """

    expression: str
    spec: str
    raw: str

    @property
    def key(self) -> str:
        """The expression and its format as one string, as the lock file has it."""
        return f"{self.expression}:{self.spec}" if self.spec else self.expression


def scan(text: str, start: int) -> tuple[Inline, int]:
    """Read one inline number that begins at ``text[start:]`` and return it with the position after it.

    Raises:
        NumberError: It does not end, or holds what is not allowed.
    """
    position = start + len(OPEN)
    depth = 0
    quote = ""
    colon = -1
    while position < len(text):
        character = text[position]
        if character == "\n":
            raise NumberError(f"{text[start:position]!r} is not closed on its line: an inline number ends with }}}}")
        if character == "\\":
            raise NumberError(f"{text[start : position + 1]!r}: no backslash in an inline number")
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif text.startswith(CLOSE, position) and depth <= 0:
            break
        elif character in "{}":
            raise NumberError(f"{text[start : position + 1]!r}: no braces inside an inline number")
        elif character == "|":
            raise NumberError(f"{text[start : position + 1]!r}: no | in an inline number; a table would cut it")
        elif character == "!" and text[position + 1 : position + 2] != "=":
            raise NumberError(f"{text[start : position + 1]!r}: no ! in an inline number; give a format after a colon")
        elif character == ":" and depth == 0:
            if text[position + 1 : position + 2] == "=":
                raise NumberError(f"{text[start : position + 2]!r}: no := in an inline number; name it in the example")
            colon = position
        position += 1
    else:
        raise NumberError(f"{text[start : start + 40]!r} is not closed: an inline number ends with }}}}")
    end = position + len(CLOSE)
    inside = text[start + len(OPEN) : position]
    if colon < 0:
        expression, spec = inside, ""
    else:
        cut = colon - start - len(OPEN)
        expression, spec = inside[:cut], inside[cut + 1 :].rstrip()
    if not expression.strip():
        raise NumberError(f"{text[start:end]!r} is empty: write a name of the example")
    if re.match(r"\s*lambda\b", expression):
        raise NumberError(f"{text[start:end]!r}: no lambda in an inline number; name it in the example")
    return Inline(expression.strip(), spec, text[start:end]), end


@dataclass(frozen=True)
class Number:
    """A number as a page shows it.

    Attributes:
        inline: What the page says.
        text: What the reader sees.
        full: The value in full, in its base unit.
        origin: What it rests on.
    """

    inline: Inline
    text: str
    full: str
    origin: Origin


def held_unit(origin: Origin) -> Unit | None:
    """Return the unit that a bare read came in, or None where the name states it."""
    if origin.door is not None and not name_unit(origin.name).dimension and origin.door.kind != "assumed":
        return origin.door.unit
    return None


PURE = ("", "ratio", "share")
"""Dimensions of plain numbers: a name may say which of them it is, whatever the data file says."""


def _check_name(origin: Origin) -> None:
    """Refuse a bare read under a name that states another unit than the data does."""
    if origin.door is None or origin.door.kind == "assumed" or not name_unit(origin.name).dimension:
        return
    named, held = name_unit(origin.name), origin.door.unit
    # Bytes for each parameter may stand in a column of bytes; bytes a second may not.
    first, *over = held.dimension.split("/")
    counted = first if not any(part in BASES for part in over) else held.dimension
    same = named.dimension in (held.dimension, counted) or (named.dimension in PURE and held.dimension in PURE)
    # Seconds and hours are one dimension: the sizes must agree as well.
    if not same or named.numerator * held.denominator != held.numerator * named.denominator:
        what = held.text or "a pure number"
        raise UnitError(f"{origin.name} is named in {named.text or named.dimension}, and {origin.door.id} is {what}")


def make_number(inline: Inline, origin: Origin) -> Number:
    """Format a value for the page.

    Raises:
        NumberError: The format or its unit does not fit.
    """
    unit = held_unit(origin)
    try:
        _check_name(origin)
        text = format_value(origin.value, inline.spec, origin.name or inline.expression, unit)
        return Number(inline, text, full_value(origin, unit), origin)
    except (UnitError, ExpressionError) as error:
        raise NumberError(f"{inline.raw}: {error}") from None


def as_stated(record: Record) -> str:
    """Return a fact's or a claim's value as its source states it: 23.64 GiB, and not the bytes that these make."""
    value = record.row.get("value")
    text = f"{value:,}" if isinstance(value, int) and abs(value) >= 1000 else str(value)
    return f"{text} {record.text('unit')}".rstrip()


def full_value(origin: Origin, unit: Unit | None = None) -> str:
    """Return a value in full: every digit of a whole number, what a float prints, in the base unit."""
    value = origin.value
    held = unit if unit is not None else name_unit(origin.name)
    if isinstance(value, str):
        return value
    record = origin.door.record if origin.door is not None and origin.door.kind in ("cited", "claimed") else None
    if record is not None and record.text("unit"):
        return as_stated(record)
    text = f"{value:,d}" if isinstance(value, int) else repr(value)
    return f"{text} {held.text}".rstrip()
