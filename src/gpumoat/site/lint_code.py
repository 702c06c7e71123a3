"""Find the typed quantities of code, formulas, citations and inline expressions.

Other rules than for prose (``gpumoat.site.lint_core``), because most figures there are no quantities: indices,
exponents, coefficients, versions. Each function takes the text as written and says in its docstring what passes.
"""

import re

from gpumoat.site.lint_core import (
    ADDRESS,
    CJK_COUNTED,
    CJK_UNITS,
    COUNTED,
    GLYPH,
    MEASURE,
    NAME,
    Quantity,
    mask,
    mask_names,
    normalise,
    quantities,
    shown,
)

_LONE_LETTER = re.compile(r"[A-Za-z]")
_CODE_NUMBER = re.compile(rf"(?<![\w.#{NAME}])\d+(?:,\d{{3}}(?!\d))*(?:_\d+)*(?:\.\d[\d_]*)*(?:[eE][+-]?\d+)?(?![\d])")
_CODE_UNIT = re.compile(rf"\s?(?:\*\s?)?(?:{MEASURE}|[x×](?!\w))|\s(?:{COUNTED})|\s?(?:{CJK_UNITS}|{CJK_COUNTED})")
_FLAG_BEFORE = re.compile(r"(?:^|\s)-{1,2}[A-Za-z][\w-]*[= ]?$")
_CODE_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b")
LONE_NUMBER = re.compile(rf"\s*[-+~≈$€£¥<>=]*\s*[\d{GLYPH}][\d.,_ eE+^-]*\s*(?:[BMTKWJ%x×]|[kMGTP]i?B)?\s*")
"""Code or a formula that is nothing but a number: it is prose in other type, and judged as prose."""


def code_quantities(text: str) -> list[Quantity]:
    """Find the typed quantities of code: a number with a unit, or a bare one of four or more digits.

    Versions, identifiers, dates, addresses and the values of command-line flags pass. A unit of one letter
    does not count (``12h`` in code is more often twelve times h than twelve hours).
    """
    plain, offsets = normalise(text)
    plain = mask_names(mask(_CODE_DATE, mask(ADDRESS, plain)))
    found = []
    for match in _CODE_NUMBER.finditer(plain):
        unit = _CODE_UNIT.match(plain, match.end())
        if unit and _LONE_LETTER.fullmatch(unit[0].strip(" *")):
            unit = None
        if unit and unit[0].endswith("%") and re.match(r"\s*[\w(]", plain[unit.end() :]):
            unit = None  # the remainder of a division
        digits = sum(character.isdigit() for character in match[0])
        large = digits >= 4 or "," in match[0] or "_" in match[0] or "e" in match[0].lower()
        if not unit:
            is_word = plain[match.end() : match.end() + 1].isalpha() or plain[match.end() : match.end() + 1] == "_"
            if not large or is_word or match[0].count(".") > 1 or _FLAG_BEFORE.search(plain[: match.start()]):
                continue
        end = unit.end() if unit else match.end()
        found.append(_placed(plain, match.start(), end, offsets, "code"))
    return found


def locator_quantities(text: str) -> list[Quantity]:
    """Find the numbers with a unit in a citation; page, table and row numbers of any size are labels."""
    return [quantity for quantity in code_quantities(text) if not re.fullmatch(r"[\d.,_]+", quantity.text)]


def expression_quantities(text: str) -> list[Quantity]:
    """Find a literal in an inline number: ``{{ 650:.0f GiB }}`` is as typed as 650 GiB.

    Indices, formats and what a door is given pass.
    """
    quiet = re.sub(r"(?<=\w\()[^()]*\)|\[[^\]]*\]", lambda match: NAME * len(match[0]), text)
    quiet = re.sub(r":[^:\"']*$", lambda match: NAME * len(match[0]), quiet)
    return [
        _placed(quiet, match.start(), match.end(), None, "digits")
        for match in re.finditer(r"(?<![\w.])\d[\d_,.]*(?:[eE][+-]?\d+)?", quiet)
    ]


_TEX_DROP = re.compile(r"\\[,;:! ]|~|(?<=\d)\{,\}(?=\d)")
_TEX_WORDS = re.compile(
    r"\\(?:text|mathrm|textrm|operatorname|mathit|mathsf|texttt|textbf|mathbf|textsf|mbox)\*?\s*\{([^{}]*)\}"
)
_TEX_NUMBER = re.compile(r"(?<![A-Za-z\d.])\d+(?:[.,]\d+)*")
_TEX_RELATION = re.compile(r"=|<|>|\\(?:approx|le|leq|ge|geq|simeq|sim|equiv|to|ll|gg)(?![A-Za-z])|&|\\\\")
_TEX_UNIT = re.compile(rf"[\s}}]*(?:\\?%|\\times(?![A-Za-z\s\\\d])|(?:{MEASURE})|(?:{COUNTED}))")


def formula_quantities(text: str) -> list[Quantity]:
    r"""Find the typed quantities of a TeX formula: with a unit, of three or more digits, or alone beside a relation.

    Coefficients, exponents and indices of one or two digits pass: ``12h^2 + 13h``, ``2^{30}``, ``x_{10}``;
    ``L = 96`` does not, because there 96 is a value. The words of ``\text{…}`` are judged as prose too.
    """
    characters: list[str] = []
    offsets: list[int] = []
    words: list[tuple[int, int]] = []
    at = 0

    def copy(start: int, end: int) -> None:
        characters.extend(text[start:end])
        offsets.extend(range(start, end))

    for match in re.finditer(f"{_TEX_DROP.pattern}|{_TEX_WORDS.pattern}", text):
        copy(at, match.start())
        if match[1] is not None:
            first = len(characters)
            copy(match.start(1), match.end(1))
            words.append((first, len(characters)))
        at = match.end()
    copy(at, len(text))
    plain, _ = normalise("".join(characters))
    if len(plain) != len(offsets):
        plain = "".join(characters)  # an invisible character: keep the offsets right
    found: dict[int, Quantity] = {}
    inside = [plain[a:b] for a, b in words]
    for (first, _), chunk in zip(words, inside, strict=True):
        for quantity in quantities(chunk):
            placed = _placed(plain, first + quantity.start, first + quantity.end, offsets, "formula")
            found[placed.start] = placed
    masked = list(plain)
    for first, last in words:
        masked[first:last] = mask_names(plain[first:last])
    tex = "".join(masked)
    for match in _TEX_NUMBER.finditer(tex):
        if offsets[match.start()] in found:
            continue
        unit = _TEX_UNIT.match(tex, match.end())
        in_words = unit and any(a < unit.end() <= b for a, b in words)
        if unit and not in_words and len(unit[0].strip(" \n}")) < 2 and "%" not in unit[0]:
            unit = None  # a bare letter in a formula is a variable
        digits = sum(character.isdigit() for character in match[0])
        if unit or digits >= 3 or _is_side(tex, match.start(), match.end()):
            placed = _placed(tex, match.start(), unit.end() if unit else match.end(), offsets, "formula")
            found[placed.start] = placed
    return [found[start] for start in sorted(found)]


def _is_side(tex: str, start: int, end: int) -> bool:
    """Say whether a number of two digits, or a decimal, is one whole side of a relation."""
    if end - start < 2:
        return False
    relations = [match.span() for match in _TEX_RELATION.finditer(tex)]
    before = tex[max((b for _, b in relations if b <= start), default=0) : start]
    after = tex[end : min((a for a, _ in relations if a >= end), default=len(tex))]
    return bool(relations) and not before.strip(" \n-+{}$") and not after.strip(" \n,.{}$")


def _placed(text: str, start: int, end: int, offsets: list[int] | None, rule: str) -> Quantity:
    quantity = shown(re.sub(r"[{}\\]", "", text[start:end]))
    if offsets is None:
        return Quantity(start, end, quantity, rule, shown(text))
    return Quantity(offsets[start], offsets[end - 1] + 1, quantity, rule, shown(text))
