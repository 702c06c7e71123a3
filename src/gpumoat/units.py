"""Base units in names, display units on the page, and the formats between them.

A value is a plain ``int`` or ``float`` held in base units, and its name says which: ``weights_bytes``,
``bandwidth_bytes_per_s``, ``price_usd_per_hour``. A page shows it in a display unit (``GiB``, ``GB/s``,
``USD/h``). A display unit that does not fit the name is an error, never a conversion.

Promises: integers are formatted by exact integer arithmetic; a float so close to a rounding edge that
another machine might print another digit is refused; a quantity with a dimension never appears without
its unit. Left out: a value object that carries a unit through arithmetic. Names carry it; the tests pass
``pint`` quantities through the formulas to prove the dimensions.

Standard library only, and plain features of it: the same file runs on MicroPython.
"""

KIB, MIB, GIB, TIB, PIB = 2**10, 2**20, 2**30, 2**40, 2**50
KB, MB, GB, TB, PB = 10**3, 10**6, 10**9, 10**12, 10**15

DTYPE_BYTES = {
    "fp64": 8,
    "fp32": 4,
    "tf32": 4,
    "fp16": 2,
    "bf16": 2,
    "fp8": 1,
    "int8": 1,
    "int4": 0.5,
    "fp4": 0.5,
}

# A display unit is (dimension, numerator, denominator): one of it is numerator/denominator base units.
# Whole numbers on both sides keep the conversion of whole numbers exact.
_DISPLAY = {
    "bytes": ("bytes", 1, 1),
    "B": ("bytes", 1, 1),
    "kB": ("bytes", KB, 1),
    "MB": ("bytes", MB, 1),
    "GB": ("bytes", GB, 1),
    "TB": ("bytes", TB, 1),
    "PB": ("bytes", PB, 1),
    "KiB": ("bytes", KIB, 1),
    "MiB": ("bytes", MIB, 1),
    "GiB": ("bytes", GIB, 1),
    "TiB": ("bytes", TIB, 1),
    "PiB": ("bytes", PIB, 1),
    "FLOP": ("flop", 1, 1),
    "MFLOP": ("flop", 10**6, 1),
    "GFLOP": ("flop", 10**9, 1),
    "TFLOP": ("flop", 10**12, 1),
    "PFLOP": ("flop", 10**15, 1),
    "EFLOP": ("flop", 10**18, 1),
    "OP": ("op", 1, 1),
    "GOP": ("op", 10**9, 1),
    "TOP": ("op", 10**12, 1),
    "POP": ("op", 10**15, 1),
    "bit": ("bit", 1, 1),
    "s": ("s", 1, 1),
    "ms": ("s", 1, 10**3),
    "µs": ("s", 1, 10**6),
    "ns": ("s", 1, 10**9),
    "min": ("s", 60, 1),
    "h": ("s", 3600, 1),
    "hours": ("s", 3600, 1),
    "days": ("s", 86400, 1),
    "weeks": ("s", 604800, 1),
    "years": ("s", 31_556_952, 1),  # the mean year of the Gregorian calendar: 146,097 days in 400 years
    "m": ("m", 1, 1),
    "km": ("m", 10**3, 1),
    "cm": ("m", 1, 10**2),
    "mm": ("m", 1, 10**3),
    "µm": ("m", 1, 10**6),
    "nm": ("m", 1, 10**9),
    "pm": ("m", 1, 10**12),
    "m²": ("m2", 1, 1),
    "cm²": ("m2", 1, 10**4),
    "mm²": ("m2", 1, 10**6),
    "µm²": ("m2", 1, 10**12),
    "nm²": ("m2", 1, 10**18),
    "J": ("j", 1, 1),
    "mJ": ("j", 1, 10**3),
    "kJ": ("j", 10**3, 1),
    "MJ": ("j", 10**6, 1),
    "kWh": ("j", 3_600_000, 1),
    "MWh": ("j", 3_600_000_000, 1),
    "eV": ("j", 1_602_176_634, 10**28),  # exact since 2019: the SI defines the elementary charge
    "W": ("w", 1, 1),
    "mW": ("w", 1, 10**3),
    "kW": ("w", 10**3, 1),
    "MW": ("w", 10**6, 1),
    "GW": ("w", 10**9, 1),
    "Hz": ("hz", 1, 1),
    "kHz": ("hz", 10**3, 1),
    "MHz": ("hz", 10**6, 1),
    "GHz": ("hz", 10**9, 1),
    "USD": ("usd", 1, 1),
    "thousand USD": ("usd", 10**3, 1),
    "million USD": ("usd", 10**6, 1),
    "billion USD": ("usd", 10**9, 1),
    "trillion USD": ("usd", 10**12, 1),
    "thousand": ("", 10**3, 1),
    "million": ("", 10**6, 1),
    "billion": ("", 10**9, 1),
    "trillion": ("", 10**12, 1),
    "x": ("ratio", 1, 1),
    "×": ("ratio", 1, 1),
}

# The last suffix of a name: what its values are held in. `hour` and `years` are the bases that are not SI: every
# price list in the trade is by the hour, and nobody tells the age of a library in seconds.
_SUFFIX = {
    "bytes": ("bytes", 1, 1),
    "flop": ("flop", 1, 1),
    "op": ("op", 1, 1),  # operations on whole numbers, which are no FLOP
    "bits": ("bit", 1, 1),
    "s": ("s", 1, 1),
    "hour": ("s", 3600, 1),
    "hours": ("s", 3600, 1),
    "years": ("s", 31_556_952, 1),
    "m": ("m", 1, 1),
    "m2": ("m2", 1, 1),
    "j": ("j", 1, 1),
    "w": ("w", 1, 1),
    "hz": ("hz", 1, 1),
    "usd": ("usd", 1, 1),
    "ratio": ("ratio", 1, 1),
    "share": ("share", 1, 1),
    "count": ("", 1, 1),
}

# How a base unit is written when a format names none. A reader never sees a bare number of bytes.
_BASE_TEXT = {
    "bytes": "bytes",
    "bit": "bit",
    "flop": "FLOP",
    "op": "OP",
    "s": "s",
    "m": "m",
    "m2": "m²",
    "j": "J",
    "w": "W",
    "hz": "Hz",
    "usd": "USD",
}

_OWN_TEXT = {"hour": "h", "hours": "h", "years": "years"}

BASES = tuple(_BASE_TEXT)
"""The dimensions that are measured; whatever else stands in a unit is a thing counted."""

# A float within this relative distance of a rounding edge may print differently on another machine.
EDGE = 1e-9


class UnitError(ValueError):
    """A format, a unit or a name that do not fit each other; the message says what would be right."""


class Unit:
    """What a name or a display unit measures: a dimension and the exact scale against its base.

    Attributes:
        dimension: Such as ``"bytes"``, ``"bytes/s"``, ``"usd/s"``, or ``""`` for a pure number.
        numerator: With ``denominator``, the size of one unit in base units, as a fraction.
        denominator: See ``numerator``.
        text: How the unit is written after a number; empty for pure numbers.
    """

    def __init__(self, dimension: str, numerator: int, denominator: int, text: str) -> None:
        self.dimension = dimension
        self.numerator = numerator
        self.denominator = denominator
        self.text = text

    def __repr__(self) -> str:
        return f"Unit({self.dimension!r}, {self.text!r})"


def dtype_bytes(dtype: str) -> int | float:
    """Return the bytes that one value of a data type takes, such as 4 for ``"fp32"``.

    Raises:
        UnitError: The data type is not known.
    """
    if dtype not in DTYPE_BYTES:
        raise UnitError(f"unknown data type {dtype!r}: use one of {', '.join(DTYPE_BYTES)}")
    return DTYPE_BYTES[dtype]


def name_unit(name: str) -> Unit:
    """Return the unit that the last suffix of a name states.

    ``weights_bytes`` is in bytes, ``kv_bytes_per_token`` in bytes per token, ``droplets_per_s`` a count per
    second; ``layers`` is a pure number, and so is a lone ``s`` or ``m`` without a stem.
    """
    words = name.split("_")
    over: list[str] = []
    if "per" in words[1:-1]:
        at = len(words) - 1 - words[::-1].index("per")
        over = words[at + 1 :]
        words = words[:at]
        while "per" in words[1:-1]:  # bytes_per_card_per_s
            inner = len(words) - 1 - words[::-1].index("per")
            over = [*words[inner + 1 :], "per", *over]
            words = words[:inner]
    last = words[-1]
    known = last in _SUFFIX and (len(words) > 1 or bool(over))
    if not over:
        if not known:
            return Unit("", 1, 1, "")
        dimension, top, bottom = _SUFFIX[last]
        return Unit(dimension, top, bottom, _OWN_TEXT.get(last, _BASE_TEXT.get(dimension, "")))
    dimension, top, bottom = _SUFFIX[last] if known else ("", 1, 1)
    text = _OWN_TEXT[last] if known and last in _OWN_TEXT else _BASE_TEXT.get(dimension, last)
    per_dimension, per_top, per_bottom, per_text = _per("_".join(over).split("_per_"))
    return Unit(dimension + per_dimension, top * per_bottom, bottom * per_top, text + per_text)


def _per(parts: list[str]) -> tuple[str, int, int, str]:
    """Multiply out the denominators of a name: dimension, numerator, denominator and text of ``/s/token``."""
    dimension, text, top, bottom = "", "", 1, 1
    for part in parts:
        if part in _SUFFIX and _SUFFIX[part][0]:
            name, a, b = _SUFFIX[part]
            top, bottom = top * a, bottom * b
            text += "/" + _OWN_TEXT.get(part, _BASE_TEXT.get(name, name))
            dimension += "/" + name
        else:
            text += "/" + part.replace("_", " ")
            dimension += "/" + part
    return dimension, top, bottom, text


def display_unit(text: str) -> Unit:
    """Return the unit that a format or a data file names, such as ``GiB``, ``GB/s`` or ``USD/h``.

    Raises:
        UnitError: The unit is not known. ``Gb`` and ``GIB`` are not ``GB`` and ``GiB``.
    """
    if text in _DISPLAY:
        dimension, top, bottom = _DISPLAY[text]
        return Unit(dimension, top, bottom, "×" if dimension == "ratio" else text)
    head, slash, rest = text.partition("/")
    if not slash or not head or not rest:
        raise UnitError(f"unknown unit {text!r}: use one of {', '.join(_DISPLAY)}, or two of them with a slash")
    # What stands over or under a slash may also be a thing counted: tokens/s, bytes/parameter.
    dimension, top, bottom = _DISPLAY.get(head, ("", 1, 1))
    if dimension == "" and head not in _DISPLAY and not _is_word(head):
        raise UnitError(f"unknown unit {head!r} in {text!r}")
    for part in rest.split("/"):
        if part in _DISPLAY and _DISPLAY[part][0]:
            name, a, b = _DISPLAY[part]
            dimension, top, bottom = dimension + "/" + name, top * b, bottom * a
        elif _is_word(part):
            dimension += "/" + part.replace(" ", "_")
        else:
            raise UnitError(f"unknown unit {part!r} in {text!r}")
    return Unit(dimension, top, bottom, text)


def _is_word(text: str) -> bool:
    return len(text) > 2 and text.replace(" ", "").isalpha() and text == text.lower()


def hold(value: int | float, unit: str, name: str) -> tuple[int | float, Unit]:
    """Convert a value of a data file into the unit in which its name holds it.

    Args:
        value: The value as the source states it.
        unit: The source's unit, such as ``"GiB"``; empty for a pure number.
        name: The name under which the value is kept; its last suffix states the unit. A name without a
            suffix is held in the base unit of what the source states.

    Returns:
        The value (an ``int`` where the conversion is exact) and the unit that it is held in.

    Raises:
        UnitError: The unit is not known, or does not fit the name.
    """
    stated = Unit("share", 1, 100, "%") if unit == "%" else display_unit(unit) if unit else Unit("", 1, 1, "")
    held = name_unit(name)
    if not held.dimension:
        held = _base_of(stated)
    elif not unit and held.dimension in ("share", "ratio"):
        stated = held
    if held.dimension != stated.dimension:
        what = held.text or held.dimension
        raise UnitError(f"{name} is held in {what}, and unit {unit!r} does not fit it")
    top, bottom = stated.numerator * held.denominator, stated.denominator * held.numerator
    above, below = (value, 1) if isinstance(value, int) else _as_written(value, name)
    above, below = above * top, below * bottom
    if above % below:
        return above / below, held
    whole = isinstance(value, int) or (held.dimension in ("bytes", "flop", "") and top >= bottom)
    return (above // below if whole else float(above // below)), held


def _base_of(stated: Unit) -> Unit:
    """Return the base unit of what a source states: bytes/s for GB/s. Hours stay hours: prices are read so."""
    head, *rest = stated.text.split("/")
    first = _DISPLAY[head][0] if head in _DISPLAY else ""
    if not rest or stated.numerator == stated.denominator:
        text = _BASE_TEXT.get(stated.dimension, stated.text if stated.dimension else "")
        return Unit(stated.dimension, 1, 1, text)
    if first not in _BASE_TEXT:
        return stated
    texts, bottom = [_BASE_TEXT[first]], 1
    for part in rest:
        if part in ("h", "hours"):
            bottom *= 3600
            texts.append("h")
        else:
            known = _DISPLAY[part][0] if part in _DISPLAY else ""
            texts.append(_BASE_TEXT.get(known, part))
    return Unit(stated.dimension, 1, bottom, "/".join(texts))


def _as_written(value: float, name: str) -> tuple[int, int]:
    """Return a float as the fraction of whole numbers that its digits say: 17.179 GB are 17,179,000,000 bytes."""
    mantissa, _, power = repr(value).partition("e")
    whole, _, places = mantissa.partition(".")
    if not (whole + places).lstrip("-").isdigit():
        raise UnitError(f"{name or 'the value'} is {value}: only a finite number can be held")
    exponent = int(power or "0") - len(places)
    digits = int(whole + places)
    return (digits * 10**exponent, 1) if exponent >= 0 else (digits, 10**-exponent)


def to_base(value: int | float, unit: str) -> tuple[int | float, str]:
    """Convert a value into base units and return it with its dimension, such as ``(1024, "bytes")``."""
    result, held = hold(value, unit, "")
    return result, held.dimension


class Spec:
    """A parsed format ``[,][.digits][d e f g %][ unit]``.

    Attributes:
        comma: Whether thousands are separated.
        digits: Digits after the point (for ``g``: significant digits), or None.
        kind: One of ``d e f g %``, or empty for the shortest exact form.
        unit: The display unit's text, or empty.
    """

    def __init__(self, comma: bool, digits: int | None, kind: str, unit: str) -> None:
        self.comma = comma
        self.digits = digits
        self.kind = kind
        self.unit = unit


def parse_spec(text: str) -> Spec:
    """Parse a format such as ``,.1f GiB``.

    Raises:
        UnitError: The format is not of the form ``[,][.digits][d e f g %][ unit]``.
    """
    wrong = UnitError(f"format {text!r} is not [,][.digits][d e f g %][ unit], such as ',d', '.1f GiB' or '.0%'")
    rest = text
    comma = rest.startswith(",")
    if comma:
        rest = rest[1:]
    digits: int | None = None
    if rest.startswith("."):
        end = 1
        while end < len(rest) and rest[end].isdigit():
            end += 1
        if end == 1:
            raise wrong
        digits = int(rest[1:end])
        rest = rest[end:]
    kind = ""
    if rest and rest[0] in "defg%" and (len(rest) == 1 or rest[1] == " "):
        kind, rest = rest[0], rest[1:]
    # A unit follows one space; alone it may stand without one: {{ weights_bytes:GiB }}.
    unit = rest[1:] if rest.startswith(" ") else rest
    if unit != unit.strip() or (rest and not rest.startswith(" ") and (comma or digits is not None or kind)):
        raise wrong
    if digits is not None and kind in ("", "d"):
        raise UnitError(f"format {text!r} gives digits without f, e, g or %: write '.{digits}f'")
    if unit and unit != "%" and unit not in _DISPLAY and "/" not in unit:
        display_unit(unit)
    return Spec(comma, digits, kind, unit)


def format_value(value: object, spec: str = "", name: str = "", unit: Unit | None = None) -> str:
    """Format a value for a page, in a display unit that fits its name.

    Args:
        value: The value in the base units that its name states. Text is passed through, without a format.
        spec: ``[,][.digits][d e f g %][ unit]``. Without a unit the base unit is written; a ``_share`` is
            written in per cent and a ``_ratio`` with a times sign.
        name: The name whose last suffix states the unit.
        unit: The unit, where it comes from a registry and not from a name.

    Raises:
        UnitError: The unit does not fit, the format does not fit the value, or a float lies within 1e-9
            (relative) of a rounding edge.
    """
    if isinstance(value, str):
        if spec:
            raise UnitError(f"{name or 'the value'} is text and takes no format, not {spec!r}")
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        kind = type(value).__name__
        raise UnitError(f"{name or 'the value'} is a {kind}: only a number or text can stand on a page")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise UnitError(f"{name or 'the value'} is {value}: only a finite number can stand on a page")
    held = unit if unit is not None else name_unit(name)
    parsed = parse_spec(spec)
    if parsed.kind == "%" or parsed.unit == "%" or (held.dimension == "share" and not parsed.unit):
        return _format_percent(value, parsed, held, name)
    shown = _shown_unit(parsed, held, name)
    top = held.numerator * shown.denominator
    bottom = held.denominator * shown.numerator
    number = _format_scaled(value, top, bottom, parsed, name)
    if shown.text == "×":
        return number + "×"
    return number + " " + shown.text if shown.text else number


def _shown_unit(parsed: Spec, held: Unit, name: str) -> Unit:
    """Return the unit to show, after checking that it fits what the value is held in."""
    if not parsed.unit:
        return Unit("ratio", 1, 1, "×") if held.dimension == "ratio" else held
    shown = display_unit(parsed.unit)
    if shown.dimension == held.dimension or (shown.dimension == "" and held.dimension == "ratio"):
        return shown
    what = f"is in {held.text or held.dimension}" if held.dimension else "is a pure number"
    fits = [text for text, row in _DISPLAY.items() if row[0] == held.dimension and held.dimension]
    mend = f": use {', '.join(fits)}" if fits else ""
    if not held.dimension:  # a name that forgot its unit, or has one that is no base unit, such as _days
        endings = [f"_{suffix}" for suffix, row in _SUFFIX.items() if row[0] == shown.dimension]
        mend = f": end the name in {' or '.join(endings)}, and hold the value in that" if endings else ""
    raise UnitError(f"unit {parsed.unit!r} does not fit {name or 'the value'}, which {what}{mend}")


def _format_percent(value: int | float, parsed: Spec, held: Unit, name: str) -> str:
    if held.dimension not in ("", "share", "ratio"):
        raise UnitError(f"{name or 'the value'} is in {held.text}: a share without a unit can be shown in per cent")
    if parsed.unit not in ("", "%"):
        raise UnitError(f"unit {parsed.unit!r} does not fit {name or 'the value'}, which is shown in per cent")
    kind = "f" if parsed.kind in ("", "%", "d") else parsed.kind
    digits = parsed.digits if parsed.digits is not None else (0 if kind == "f" else None)
    return _format_scaled(value, 100, 1, Spec(parsed.comma, digits, kind, ""), name) + "%"


def _format_scaled(value: int | float, top: int, bottom: int, parsed: Spec, name: str) -> str:
    """Format ``value * top / bottom``: exactly for whole numbers, by the float's own format otherwise."""
    comma = "," if parsed.comma else ""
    if isinstance(value, int):
        above, below = value * top, bottom
        if parsed.kind in ("", "d") and above % below == 0:
            return f"{above // below:{comma}d}"
        if parsed.kind == "d":
            raise UnitError(f"{name or 'the value'} is no whole number in this unit: use '.1f', not 'd'")
        digits = 6 if parsed.digits is None else parsed.digits
        if parsed.kind == "f":
            return _format_fraction(above, below, digits, parsed.comma)
        if parsed.kind == "e":
            return _format_power(above, below, digits)
        if parsed.kind == "g":
            return _format_significant(above, below, max(digits, 1), parsed.comma)
        if max(abs(above), below) >= 10**300:
            raise UnitError(f"{name or 'the value'} is too large to be shown in this unit without 'e', 'f' or 'g'")
        scaled = above / below
    else:
        scaled = value * top / bottom
        if parsed.kind == "d":
            if scaled != int(scaled):
                raise UnitError(f"{name or 'the value'} is {scaled!r}: a fraction needs '.1f', not 'd'")
            return f"{int(scaled):{comma}d}"
    form = ("" if parsed.digits is None else f".{parsed.digits}") + parsed.kind
    text = _separated(f"{scaled:{form}}", parsed.comma)
    if isinstance(value, float) and parsed.kind in ("e", "f", "g"):
        low = f"{scaled * (1 - EDGE):{form}}"
        high = f"{scaled * (1 + EDGE):{form}}"
        if low != high:
            what = f"{name or 'the value'} is {scaled!r}, on the edge between {low} and {high}"
            raise UnitError(f"{what}: use another number of digits")
    return text


def _separated(text: str, comma: bool) -> str:
    """Put commas between the thousands of a printed number. MicroPython's own format knows them for integers only."""
    end = 0
    while end < len(text) and (text[end].isdigit() or text[end] == "-"):
        end += 1
    if not comma or end < 4:
        return text
    return f"{int(text[:end]):,d}" + text[end:] if text[:end] != "-0" else text


def _format_fraction(above: int, below: int, digits: int, comma: bool) -> str:
    """Format a fraction of whole numbers with ``digits`` places, half to even, without a float between."""
    sign = "-" if above < 0 else ""
    scaled = abs(above) * 10**digits
    whole, rest = divmod(scaled, below)
    if 2 * rest > below or (2 * rest == below and whole % 2 == 1):
        whole += 1
    left, right = divmod(whole, 10**digits)
    left_text = f"{left:,d}" if comma else str(left)
    if digits == 0:
        return sign + left_text
    right_text = str(right)
    return sign + left_text + "." + "0" * (digits - len(right_text)) + right_text


def _power(above: int, below: int, digits: int) -> tuple[int, int]:
    """Round a positive fraction to ``1 + digits`` digits, half to even; return them and the power of ten in front."""
    power = len(str(above)) - len(str(below))
    if above * 10 ** max(-power, 0) < below * 10 ** max(power, 0):
        power -= 1
    shift = digits - power
    rounded = int(_format_fraction(above * 10 ** max(shift, 0), below * 10 ** max(-shift, 0), 0, False))
    return (rounded, power) if rounded < 10 ** (digits + 1) else (rounded // 10, power + 1)


def _format_power(above: int, below: int, digits: int) -> str:
    """Format a fraction of whole numbers as ``1.50e+03``."""
    sign = "-" if above < 0 else ""
    rounded, power = _power(abs(above), below, digits) if above else (0, 0)
    text = str(rounded) + "0" * (digits if not rounded else 0)
    point = "." + text[1:] if digits else ""
    return f"{sign}{text[0]}{point}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _format_significant(above: int, below: int, digits: int, comma: bool) -> str:
    """Format a fraction of whole numbers with so many significant digits, without zeros at the end."""
    power = _power(abs(above), below, digits - 1)[1] if above else 0
    if -4 <= power < digits:
        text = _format_fraction(above, below, digits - 1 - power, comma)
        return text.rstrip("0").rstrip(".") if "." in text else text
    text, _, exponent = _format_power(above, below, digits - 1).partition("e")
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "e" + exponent
