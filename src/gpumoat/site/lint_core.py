"""Find the typed quantities in a run of plain text: the core that every lint of the site shares.

The text comes in *flat*: what a reader would see, with each piece of markup either dropped or replaced by
one private-use character (a *mark*) that says what stood there: an inline number, a citation, a formula.
Names from ``data/names.toml``, addresses and file paths are masked here. What is left is cut into tokens
(date, number, word, Chinese numeral, mark, other), and one rule for each kind of token decides.

Promises: any number in digits is found, in whatever script Unicode writes digits, unless it is

- an ordinal or a reference: ``1st``, ``section 3.2``, ``lines 9 to 14``, ``#12``, ``第3章``;
- a name of the list: ``H100``, ``8-bit``, ``CUDA 13.0``;
- a year or a date in a sentence that also holds a citation or a door call, not followed by a unit.

Number words are found before a unit (``three times``), as fractions (``two thirds``) and from thirty up
(``ninety-six layers``, ``a hundred cards``). A unit typed after an inline number is found.

Not flagged, on purpose: small number words before anything else (``two reasons``, ``one card``), ``zero``,
``one day``, ``half``, ``twice``, ``double``; vague plurals (``thousands of cores``, ``millions of people``);
quantities spelt out in a language other than English and Chinese.
"""

import re
import tomllib
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

NUMBER, DOOR, CITE, OPAQUE, NAME, SMALL, GLYPH, CELL, BREAK = (chr(0xE000 + i) for i in range(9))
"""Marks: an inline number, one read straight from a door, a citation, code or a formula, a masked name,
a code span that is one digit, a character that is a number by itself (½, Ⅻ), a table cell's edge, a hard break."""

NAMES_FILE = Path(__file__).parents[1] / "data" / "names.toml"


@dataclass(frozen=True)
class Quantity:
    """A typed quantity in a text.

    Attributes:
        start: Offset of its first character.
        end: Offset behind its last character.
        text: The quantity with its unit, white space collapsed.
        rule: ``digits``, ``word``, ``unit``, ``year``, ``name``, ``code`` or ``formula``.
        sentence: The sentence around it, marks shown as ``{{}}``.
    """

    start: int
    end: int
    text: str
    rule: str
    sentence: str = ""


@dataclass(frozen=True)
class Name:
    """A name that holds digits and is no quantity: an entry of ``data/names.toml``."""

    pattern: str
    example: str
    what: str


def load_names(path: Path = NAMES_FILE) -> list[Name]:
    """Read the list of names.

    Raises:
        ValueError: An entry lacks a field, its pattern is no regular expression, or does not match its example.
    """
    names = []
    for number, entry in enumerate(tomllib.loads(path.read_text("utf-8")).get("name", []), 1):
        where = f"{path.name}: name {number}"
        if missing := {"pattern", "example", "what"} - set(entry):
            raise ValueError(f"{where} lacks {', '.join(sorted(missing))}: each name has pattern, example and what")
        try:
            fits = re.fullmatch(entry["pattern"], entry["example"])
        except re.error as error:
            raise ValueError(f"{where}: pattern {entry['pattern']!r} is no regular expression: {error}") from error
        if not _DIGIT.search(entry["example"]):
            raise ValueError(f"{where}: {entry['example']!r} holds no digit, so it needs no entry")
        if not fits:
            raise ValueError(f"{where}: pattern {entry['pattern']!r} does not match its example {entry['example']!r}")
        names.append(Name(entry["pattern"], entry["example"], entry["what"]))
    return names


@cache
def _names() -> re.Pattern[str]:
    """One pattern of all names: whole words only, so that ``H1000`` and ``8-bit`` in ``128-bit`` are no names."""
    body = "|".join(f"(?:{name.pattern})" for name in load_names())
    return re.compile(rf"(?<![^\W_])(?<!\d[.,-])(?:{body})(?![^\W_])(?![.,]\d)")


# Units. MEASURES are units in the strict sense: after an inline number they belong into its format.
# COUNTED are the field's count nouns: a year, a reference or a number in code is none before one of them.

_PREFIXED = [
    *(
        f"{p}{u}"
        for p in ("", "k", "K", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi")
        for u in ("B", "b", "bit")
    ),
    *(
        f"{p}{u}"
        for p in ("", "k", "M", "G", "T", "P", "E", "Z")
        for u in ("FLOP", "FLOPs", "FLOPS", "OP", "OPS", "Flops")
    ),
    *(
        f"{p}{u}"
        for p in ("", "k", "m", "M", "G", "T", "µ", "μ", "n", "p")
        for u in ("W", "Wh", "J", "V", "A", "Hz", "eV")
    ),
    *(f"{p}{u}" for p in ("", "m", "µ", "μ", "u", "n", "p", "f") for u in ("s", "m")),
    *(
        [
            "cm",
            "km",
            "min",
            "h",
            "hr",
            "hrs",
            "mm²",
            "cm²",
            "m²",
            "nm²",
            "K",
            "g",
            "kg",
            "t",
            "Å",
            "dpi",
            "RMB",
            "CNY",
            "USD",
            "EUR",
            "GBP",
            "k",
            "M",
            "T",
            "bn",
            "mn",
            "tn",
        ]
    ),
    *(["GIB", "MIB", "KIB", "TIB"]),
]
_METRIC = "(?:kilo|mega|giga|tera|peta|exa|kibi|mebi|gibi|tebi|milli|micro|nano|pico|centi)?"
_SPELT = (
    _METRIC + r"(?:bytes?|bits?|watts?|joules?|volts?|amperes?|hertz|met(?:er|re)s?|grams?|flops?|seconds?)"
    r"|(?:milli|kilo|mega|giga|tera)?watt[ -]?hours?|minutes?|hours?|days?|weeks?|months?|years?|decades?"
    r"|inch(?:es)?|miles?|degrees?|dollars?|euros?|yuan|pounds? sterling|cents?|per ?cent|percentage points?"
    r"|times|fold|thousand|hundred|million|billion|trillion|dozen"
)
CJK_UNITS = r"亿|万|千|百|倍|美元|人民币|元|字节|比特|瓦|纳米|毫米|微米|小时|分钟|秒|毫秒|天|年|个月"
_SYMBOLS = "|".join(sorted(map(re.escape, set(_PREFIXED)), key=len, reverse=True))
MEASURE = (
    rf"(?:(?:(?:{_SYMBOLS})|(?i:{_SPELT}))(?![^\W_]|[²³]\w)(?:/[A-Za-z]+)?(?:[²³])?"
    rf"|[%‰℃Å°$€£¥](?:[CF]\b)?|{CJK_UNITS})"
)
_SCALE = r"(?i:hundred|thousand|million|billion|trillion|dozen)"
COUNTED = (
    r"(?i:tokens?|param(?:eter)?s?|layers?|heads?|gpus?|cards?|cores?|vectors?|dimensions?|experts?|threads?|warps?|lanes?"
    r"|blocks?|sectors?|elements?|entries|pixels?|images?|weights?|operations?|instructions?|cycles?|transistors?|wafers?"
    r"|dies?|chips?|mirrors?|people|engineers?|developers?|users?|customers?|employees|machines?|nodes?|servers?|racks?"
    r"|steps|samples?|sequences?|values?|numbers?|floats?|tasks?|kernels?|requests?|companies|times|points?)\b"
)
CJK_COUNTED = r"层|个|张|块|颗|台|位|人|名|核|次|维|卡|头|片|步"
_TIMES_SIGN = rf"[x×](?![^\W_]|\s*[\d{NUMBER}{DOOR}{SMALL}])"
_UNIT = re.compile(rf"[ -]?(?:{_SCALE} )?(?:{MEASURE}|{_TIMES_SIGN})")
_UNIT_OR_COUNT = re.compile(rf"[ -]?(?:{MEASURE}|{_TIMES_SIGN}|{COUNTED}|{CJK_COUNTED})")
_CURRENCY = re.compile(r"(?:(?:US|HK|A|C)?[$€£¥]|\b(?:USD|EUR|RMB|CNY|GBP)) ?$")

# Tokens.

_DIGIT = re.compile("[0-9]")

_LETTER = r"A-Za-zÀ-ÖØ-öø-ɏͰ-ϿЀ-ӿµ"
_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉"
_TOKEN = re.compile(
    rf"""
    (?P<date>  (?:19|20)\d\d - (?:0[1-9]|1[0-2]) (?:-(?:0[1-9]|[12]\d|3[01]))? (?![\d{_LETTER}]) )
  | (?P<num>   \d+ (?: [,.'’_:]\d+ | [ ]\d{{3}}(?![\d{_LETTER}]) )* (?:[eE][+-]?\d+)? [{_SUPER}]* {GLYPH}* | {GLYPH}+
               | (?<![{_LETTER}{_SUPER}])[{_SUPER}]*[⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉][{_SUPER}]+ )
  | (?P<word>  [{_LETTER}] (?: [{_LETTER}\d_{_SUPER}] | ['’](?=[{_LETTER}]) )* )
  | (?P<han>   [零〇一二三四五六七八九十百千万亿两半]+ )
  | (?P<mark>  [{NUMBER}{DOOR}{CITE}{OPAQUE}{SMALL}] )
  | (?P<space> \s+ )
  | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)

_SMALL_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty".split()
)
_TENS = frozenset("thirty forty fifty sixty seventy eighty ninety".split())
_SCALES = frozenset("hundred thousand million billion trillion dozen".split())
_NUMBER_WORDS = _SMALL_WORDS | _TENS | _SCALES | {"half", "quarter"}
_FRACTIONS = frozenset(
    "half halves third thirds quarter quarters fifth fifths sixth sixths eighth eighths tenth tenths".split()
)
_FOLD = re.compile(rf"(?:{'|'.join(sorted((_SMALL_WORDS | _TENS | _SCALES) - {'one', 'two'}))})fold", re.IGNORECASE)
_IDIOM_AFTER_ONE = re.compile(r"[ -]?(?i:days?|bit|time|times|degree|hundred and one)\b")

# References: a word that is followed by a label. A label has few digits, and no unit behind it.
_REFERENCES = frozenset(
    "chapter chapters section sections lecture lectures table tables figure figures step steps line "
    "lines question questions page pages part parts equation equations appendix footnote footnotes "
    "note problem problems exercise exercises example examples rule rules item items listing "
    "listings row rows column columns volume version issue lemma theorem".split()
)
_LONG_LABELS = frozenset("line lines page pages issue p. pp.".split())  # up to four digits; other labels have two
_REFERENCE = "|".join(sorted(_REFERENCES, key=len, reverse=True))
_LABELLED = re.compile(
    r"(?:\b(?P<article>(?i:an?|the|this|that|its)) )?"
    rf"\b(?P<word>(?i:{_REFERENCE})|(?:[Ff]ig|[Ee]q|[Ss]ec|[Cc]h|[Tt]ab|pp?)\.) (?P<open>\(?)(?:[A-Z]\.)?"
    r"(?:\d[\d.]*(?: ?[-–,] ?|,? (?:and|to|or|through) ))*$"  # lines 9, 12 and 14
)
_MONTHS = (
    "january february march april may june july august september october november december jan feb "
    "mar apr jun jul aug sep sept oct nov dec"
).split()
_MONTH = re.compile(rf"\b(?i:{'|'.join(_MONTHS)})\b")
_YEAR_WORD = re.compile(r"(?:FY\d{2,4}|[QH][1-4]|CY\d{2,4})")
_OPERATOR_BEFORE = re.compile(r"[×x*=+<>≈~^] ?$|[$€£¥] ?$")
_OPERATOR_AFTER = re.compile(rf" ?[×*=+^]| x[ \d{NUMBER}]")

ADDRESS = re.compile(
    r"(?:https?://|mailto:|www\.)[^\s<>\"'`，。）]+"
    r"|(?<!\w)(?:\.{1,2}/|docs/|src/|tests/|assets/)[\w./#-]+"
    r"|(?<![\w/])(?:[\w.-]*/)*[A-Za-z_][\w.-]*\.(?:py|md|toml|json|csv|html|css|js|mjs|svg|png|lock|yml|yaml|txt|cu)\b"
    r"|(?<!\w)(?:localhost|127\.0\.0\.1)(?::\d+)?"
    r"|(?<!\w)[\w.+-]+@[\w-]+\.[\w.]+"
)
_ABBREVIATION = r"(?<!et al)(?<!e\.g)(?<!i\.e)(?<!\bvs)(?<!\bcf)(?<!\b[Ff]ig)(?<!\b[Ee]q)(?<!\bNo)(?<!\bpp)"
_SENTENCE_END = re.compile(rf"{_ABBREVIATION}[.!?](?=\s+[^\sa-z{CITE}])|[。！？{BREAK}]")


def normalise(text: str) -> tuple[str, list[int] | None]:
    """Bring look-alikes to plain characters: digits, letters and signs of any width, spaces, invisible characters.

    Returns:
        The plain text, and for each of its characters the offset in the given text (None: the same).
    """
    if text.isascii():
        return text, None
    characters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        if character < "\x80" or "\ue000" <= character <= "\ue008" or character in _SUPER:
            plain = character
        else:
            category = unicodedata.category(character)
            if category == "Nd":
                plain = str(unicodedata.decimal(character))
            elif category == "Zs":
                plain = " "
            elif category == "Cf" or character == "\u034f":
                continue  # invisible: soft hyphen, zero-width space and joiner
            elif category in ("No", "Nl") and character != "〇":
                plain = GLYPH
            else:
                folded = unicodedata.normalize("NFKC", character)
                plain = folded if len(folded) == 1 and character not in "，。：" else character
        characters.append(plain)
        offsets.append(offset)
    return "".join(characters), offsets


def lint_text(text: str) -> list[str]:
    """Return the typed quantities of a plain text (a caption, a text mark of a figure), in order."""
    return [quantity.text for quantity in quantities(text)]


def quantities(text: str) -> list[Quantity]:
    """Find the typed quantities of a flat text under the rules for prose.

    Args:
        text: What the reader sees, marks in place of markup (see ``gpumoat.site.lint_page``).

    Returns:
        The quantities in order; offsets refer to the text as given.
    """
    plain, offsets = normalise(text)
    plain = mask(ADDRESS, plain)
    if _DIGIT.search(plain):
        plain = mask_names(plain)
    found = _Prose(plain).found()
    if offsets is None:
        return list(found)
    placed = []
    for q in found:
        start, end = offsets[q.start], offsets[q.end - 1] + 1
        written = " ".join(text[start:end].split()) if GLYPH in q.text else q.text
        placed.append(Quantity(start, end, written, q.rule, q.sentence))
    return placed


def mask(pattern: re.Pattern[str], text: str) -> str:
    """Put marks in place of what a pattern matches."""
    return pattern.sub(lambda match: NAME * len(match[0]), text)


def mask_names(text: str) -> str:
    """Put marks in place of the names of the list."""

    def mark(match: re.Match[str]) -> str:
        version = re.search(r" \d[\d.]*$", match[0])
        # "PCIe 5.0" is a name, and so is "PCIe 5", but not before a unit: "PCIe 5 GB/s".
        return match[0] if version and _UNIT.match(text, match.end()) else NAME * len(match[0])

    return _names().sub(mark, text)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Prose:
    """The rules for prose, over the tokens of one normalised text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [_Token(m.lastgroup or "", m[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
        self.ends: list[int] | None = None

    def found(self) -> Iterator[Quantity]:
        """Yield the quantities in order."""
        done = 0
        for index, token in enumerate(self.tokens):
            if token.start < done:
                continue
            quantity = self._judge(index, token)
            if quantity:
                done = quantity.end
                yield quantity

    def _judge(self, index: int, token: _Token) -> Quantity | None:
        if token.kind == "num":
            return self._number(index, token)
        if token.kind == "date":
            return None if self._cited(token.start) else self._make(token.start, token.end, "year")
        if token.kind == "word":
            return self._word(index, token)
        if token.kind == "han":
            return self._han(token)
        if token.kind == "mark" and token.text in (NUMBER, DOOR, SMALL):
            return self._after_mark(token)
        return None

    # Digits

    def _number(self, index: int, token: _Token) -> Quantity | None:
        decade = re.fullmatch(r"(?:19|20)\d0", token.text) and re.match(r"s\b", self.text[token.end :])
        unit = None if decade else _UNIT_OR_COUNT.match(self.text, token.end)
        if not unit:
            if self._is_reference(token) or self._is_ordinal(index, token):
                return None
            if self._is_date_part(token):
                return None if self._cited(token.start) else self._make(token.start, token.end, "year")
        end = unit.end() if unit else token.end
        glued = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        if not unit and glued and glued.kind == "word":
            end = glued.end  # 3D, 7Bx: the letters belong to it
        if (
            unit
            and (second := _UNIT.match(self.text, end))
            and self.text[end : end + 1] == " "
            and re.search(_SCALE, unit[0])
        ):
            end = second.end()  # 3 billion USD
        currency = _CURRENCY.search(self.text, max(0, token.start - 5), token.start)
        return self._make(currency.start() if currency else token.start, end, "digits")

    def _is_ordinal(self, index: int, token: _Token) -> bool:
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        return bool(
            token.text.isdigit()
            and following
            and following.kind == "word"
            and following.text in ("st", "nd", "rd", "th")
        )

    def _is_reference(self, token: _Token) -> bool:
        before = self.text[: token.start]
        if re.search(r"(?:#|§ ?|第 ?|[图表节章式行页步题例] ?)$", before):
            return len(token.text) <= 5
        if re.match(r" ?[节章页讲]", self.text[token.end :]):
            return len(token.text) <= 5
        label = _LABELLED.search(self.text, max(0, token.start - 80), token.start)
        if not label or (label["open"] and not self.text.startswith(")", token.end)):
            return False
        # "The figure 96 is wrong" speaks of a number; a label has no article.
        if label["article"] and label["word"].lower().startswith("figure"):
            return False
        longest = 4 if label["word"].lower() in _LONG_LABELS else 2
        return all(part.isdigit() and len(part) <= longest for part in token.text.split("."))

    def _is_date_part(self, token: _Token) -> bool:
        """Say whether digits are a year or a day of a month, by their neighbours."""
        before, after = self.text[max(0, token.start - 12) : token.start], self.text[token.end : token.end + 12]
        if _OPERATOR_BEFORE.search(before) or _OPERATOR_AFTER.match(after):
            return False
        if re.fullmatch(r"(?:19|20)\d\d", token.text):
            # In this field a bare 2048 is a size.
            followed = re.match(r"(?:s\b)?(?![^\W_])", after) is not None
            return followed and (token.text != "2048" or before.endswith("year "))
        if not token.text.isdigit() or len(token.text) > 2:
            return False
        if re.search(r"(?:19|20)\d\d[-–/]$", before):
            return True  # 2023-24
        return bool(re.search(rf"{_MONTH.pattern} $", before) or re.match(rf" {_MONTH.pattern}", after))

    # Words

    def _word(self, index: int, token: _Token) -> Quantity | None:
        word = token.text.lower()
        if not word.isalpha() and re.search(r"[0-9]", word):
            if _YEAR_WORD.fullmatch(token.text):
                return None if self._cited(token.start) else self._make(token.start, token.end, "year")
            return self._make(token.start, token.end, "name")
        if _FOLD.fullmatch(word):
            return self._make(token.start, token.end, "word")
        if word in ("third", "quarter", "fifth", "tenth") and re.search(r"(?i:\ba|\bone) $", self.text[: token.start]):
            if re.match(r" of\b", self.text[token.end :]):
                return self._make(token.start, token.end, "word")
            return None
        return self._number_words(index, token) if word in _NUMBER_WORDS else None

    def _number_words(self, index: int, token: _Token) -> Quantity | None:
        """Judge a run of number words by its size and by what follows it."""
        words, last, at = [token.text.lower()], token, index + 1
        while at + 1 < len(self.tokens):
            gap, following = self.tokens[at], self.tokens[at + 1]
            if gap.text not in (" ", "-", "\n") or following.kind != "word":
                break
            word = following.text.lower()
            if word in _NUMBER_WORDS or word in ("and", "a", "an", "point"):
                words.append(word)
                if word in _NUMBER_WORDS:
                    last = following
                at += 2
            elif (
                word in _FRACTIONS
                and words[-1] in _SMALL_WORDS
                and (words[-1] != "one" or word in ("third", "quarter"))
            ):
                return self._make(token.start, following.end, "word")
            else:
                break
        counted = [
            word
            for word in self.text[token.start : last.end].lower().replace("-", " ").split()
            if word in _NUMBER_WORDS
        ]
        start = token.start
        if article := re.search(r"\b(?i:an?|per) $", self.text[:start]):
            start = article.start()
        elif re.search(rf"[\d{NUMBER}{DOOR}] $", self.text[:start]):
            return None  # the digits before it were judged
        unit = self._word_unit(last.end, counted)
        if unit is not None:
            return self._make(start, unit, "word")
        big = any(word in _TENS for word in counted) or (
            any(word in _SCALES for word in counted) and (len(counted) > 1 or start < token.start)
        )
        if big or (counted[0] == "twenty" and len(counted) > 1):
            return self._make(start, last.end, "word")
        share = re.match(r" (?:out of|in) (\w+)", self.text[last.end :])  # one in ten
        if share and counted[0] in _SMALL_WORDS and share[1].lower() in (_SMALL_WORDS | _TENS | _SCALES) - {"one"}:
            return self._make(start, last.end + share.end(), "word")
        return None

    def _word_unit(self, end: int, counted: list[str]) -> int | None:
        article = re.match(r" (?:of )?an? ", self.text[end:]) if counted[-1] in ("half", "quarter") else None
        at = end + article.end() - 1 if article else end
        if counted == ["one"] and _IDIOM_AFTER_ONE.match(self.text, at):
            return None
        unit = _UNIT.match(self.text, at)
        if not unit or unit[0].strip(" -") in ("quarter", "half"):
            return None
        bare = unit[0].strip(" -")
        if len(bare) == 1 and bare not in "%‰$€£¥":
            return None  # "one A", "two m": a letter is too little to be a unit after a word
        if unit[0].startswith("-") and bare.lower() in ("second", "bit", "bits"):
            return None  # "two second-order effects"
        if bare.lower() == "second" and counted != ["one"] and not article:
            return None
        return unit.end()

    def _han(self, token: _Token) -> Quantity | None:
        before, after = self.text[: token.start], self.text[token.end :]
        if before.endswith("第") or token.text in ("万一", "千万", "一一", "一半", "半"):
            return None
        if before.endswith("百分之") or before.endswith("分之"):
            return self._make(token.start, token.end, "word")
        big = len(token.text) > 1 and token.text[-1] in "万亿百千" and token.text[0] not in "万亿"
        unit = re.match(r" ?(?:倍|[GMTK]i?B\b|字节|美元|元|%|成|分之)", after)
        if big or unit:
            return self._make(token.start, token.end + (unit.end() if unit else 0), "word")
        return None

    def _after_mark(self, token: _Token) -> Quantity | None:
        """Judge what is typed around an inline number: a unit behind it, a currency before it."""
        currency = _CURRENCY.search(self.text, max(0, token.start - 5), token.start)
        if currency:
            return self._make(currency.start(), token.end, "unit")
        unit = _UNIT.match(self.text, token.end)
        if not unit:
            return None
        bare = unit[0].strip(" -")
        if unit[0].startswith("-") and (
            bare.lower() in ("bit", "byte", "day", "hour", "year", "second") or len(bare) == 1
        ):
            return None  # an adjective: {{ width }}-bit
        if unit[0].startswith(" ") and bare in ("A", "a", "k", "t"):
            return None
        return self._make(token.start, unit.end(), "unit")

    # Sentences

    def _sentence(self, offset: int) -> tuple[int, int]:
        if self.ends is None:
            self.ends = [match.end() for match in _SENTENCE_END.finditer(self.text)]
        at = bisect_right(self.ends, offset)
        return (self.ends[at - 1] if at else 0), (self.ends[at] if at < len(self.ends) else len(self.text))

    def _cited(self, offset: int) -> bool:
        start, end = self._sentence(offset)
        return any(mark in self.text[start:end] for mark in (CITE, DOOR))

    def _make(self, start: int, end: int, rule: str) -> Quantity:
        first, last = self._sentence(start)
        return Quantity(start, end, shown(self.text[start:end]), rule, shown(self.text[first:last]))


def shown(text: str) -> str:
    """Write a text for a message: marks of numbers as ``{{}}``, names as an ellipsis, white space collapsed."""
    text = re.sub(f"[{NUMBER}{DOOR}{SMALL}]", "{{}}", text).replace(CELL, "|")
    text = re.sub(f"[{CITE}{OPAQUE}{BREAK}]", " ", re.sub(f"{NAME}+", "…", text))
    return " ".join(text.split())
