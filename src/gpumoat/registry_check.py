"""Judges the data files: everything that can be wrong with a source, a fact, a claim or a measurement.

Promises: one call lists every problem of a data folder, each with its file, id, field and what would be
right; a broken file is a problem, never a traceback. Each rule has a test with a planted fault. A claim's
`right` is recomputed from its expression, and its verdict held against the scale of ``gpumoat.verdicts``, so a verdict
cannot outlive the arithmetic behind it. An expression of constants alone outlives everything, so it must name a source.

Left out: whether a source says what a fact says. A person reads that; `status`, `locator` and the source's
`copy` record that it was done, and this module only sees to it that they are there. Dates are compared with
each other, and with the clock only if the caller passes `today`, so that a check gives one result on any day.
"""

from __future__ import annotations

import ast
import difflib
import json
import math
import re
import tomllib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from gpumoat import coalescing, config_check, llm, partition, price_table, review, units, verdicts
from gpumoat.facts import DATA, STATUSES, TOPICS, VERDICTS, DataError, one_topic_a_file

SCHEMA = 1
SOURCE_KINDS = ("paper", "datasheet", "documentation", "log", "report", "article", "filing")
DOCUMENTS = ("lecture", "chapter")

WITHIN = 0.001
"""Relative tolerance of a claim's `right` against its expression, where the claim gives none of its own."""

UNJUDGED = ("opinion", "unverifiable")
"""Verdicts that no arithmetic stands behind."""

_TEXT, _NUMBER, _TEXTS, _TABLE, _VALUE = "text", "number", "a list of texts", "a table", "a number or text"


@dataclass(frozen=True)
class Column:
    """What a field of a row must be."""

    kind: str = _TEXT
    required: bool = True
    may_be_empty: bool = False


_OPTIONAL = Column(required=False)
COLUMNS: dict[str, dict[str, Column]] = {
    "source": {
        "id": Column(),
        "kind": Column(),
        "short": Column(),
        "title": Column(),
        "authors": Column(_TEXTS, required=False),
        "publisher": Column(),
        "url": Column(may_be_empty=True),
        "published": Column(),
        "copy": _OPTIONAL,
    },
    "subject": {
        "id": Column(),
        "kind": Column(),
        "name": Column(),
        "vendor": _OPTIONAL,
        "measured": Column(_TABLE, required=False),
    },
    "fact": {
        "id": Column(),
        "statement": Column(),
        "value": Column(_VALUE),
        "unit": Column(may_be_empty=True),
        "as_of": Column(),
        "source": Column(),
        "locator": Column(),
        "status": Column(),
        "checked": Column(),
        "note": _OPTIONAL,
        "to_check": _OPTIONAL,
        "review": _OPTIONAL,
    },
    "claim": {
        "id": Column(),
        "document": Column(),
        "where": Column(),
        "says": Column(),
        "value": Column(_NUMBER, required=False),
        "unit": Column(required=False, may_be_empty=True),
        "verdict": Column(),
        "right": Column(_NUMBER, required=False),
        "expression": _OPTIONAL,
        "within": Column(_NUMBER, required=False),
        "form": _OPTIONAL,
        "then": _OPTIONAL,
        "why": _OPTIONAL,
        "explanation": Column(),
        "facts": Column(_TEXTS, may_be_empty=True),
        "sources": Column(_TEXTS, required=False),
    },
    "measurement": {
        "schema": Column(_NUMBER),
        "id": Column(),
        "title": Column(),
        "device": Column(),
        "driver": Column(),
        "versions": Column(_TABLE, may_be_empty=True),
        "date": Column(),
        "script": Column(),
        "results": Column(_TABLE),
        "raw": Column(_TABLE, required=False, may_be_empty=True),
    },
    "result": {"value": Column(_NUMBER), "unit": Column(may_be_empty=True), "what": Column()},
}
"""The columns of each kind of row, schema version 1."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and what would be right.

    Attributes:
        file: The file, from the data folder.
        id: The row's id with its kind, such as ``fact gpt3.layers``; empty for the file as a whole.
        field: The field of the row, or empty.
        message: What is wrong and what would be right.
        unused: Whether nothing is wrong with the row itself: nothing uses it, and pages can be made all the same.
    """

    file: str
    id: str
    field: str
    message: str
    unused: bool = False

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.id, self.field, self.message) if part)


@dataclass(frozen=True)
class Row:
    """One row of a data file that could be read."""

    table: str
    file: str
    values: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The row's id, or empty text if it is not text."""
        return self.text("id")

    def text(self, name: str) -> str:
        """Return a field if it is text, else empty text."""
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | float | None:
        """Return a field if it is a finite number, else None."""
        value = self.values.get(name)
        return value if _is_number(value) else None

    def problem(self, name: str, message: str, unused: bool = False) -> Problem:
        """Return a problem of this row."""
        return Problem(self.file, f"{self.table} {self.id or '(no id)'}", name, message, unused)


@dataclass
class Shelves:
    """The rows of a data folder by kind, the problems found on the way, and whether a file could not be read."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    problems: list[Problem] = field(default_factory=list)
    broken: bool = False

    def by_id(self, table: str) -> dict[str, Row]:
        """Return the rows of a kind by id; of two with one id the first."""
        found: dict[str, Row] = {}
        for row in self.rows[table]:
            found.setdefault(row.id, row)
        return found


def find_repository(folder: Path) -> Path | None:
    """Return the checkout around a data folder, or None for an installed package without one."""
    return next((one for one in folder.resolve().parents if (one / "pyproject.toml").is_file()), None)


def check_registry(
    folder: Path | str = DATA, repository: Path | None = None, today: date | None = None
) -> list[Problem]:
    """List every problem of a data folder; an empty list means that all is well.

    Args:
        folder: The data folder, by default the package's own.
        repository: The checkout in which pages, examples and scripts are looked up, by default the one around
            the folder. Without one, use by a page and the scripts of measurements are not checked. In one that
            the folder does not belong to, use is not checked: another site's pages need not use all our facts.
        today: If given, a date after it is a problem.
    """
    folder = Path(folder)
    repository = repository or find_repository(folder)
    shelves = _read(folder)
    problems = shelves.problems
    if shelves.broken:  # everything else would be about what a file that cannot be read seems to lack
        return sorted(problems, key=lambda one: (one.file, one.message))
    for table in ("source", "subject", "fact", "claim", "measurement"):
        for row in shelves.rows[table]:
            problems += _check_columns(row)
    problems += _check_ids(shelves)
    ours = repository is not None and folder.resolve().is_relative_to(repository.resolve())
    pages = _texts(repository, ("docs",), (".md", ".py")) if repository and ours else None
    code = _texts(repository, ("src",), (".py",)) if repository and ours else None
    configs = config_check.read_configs(folder)
    copies = {row.id: row.text("copy") for row in shelves.rows["source"]}
    problems += [Problem(*fault) for fault in config_check.check_configs(configs, copies, today)]
    problems += _check_sources(shelves, pages, configs.sources())
    problems += _check_subjects(shelves)
    problems += _check_facts(shelves, today)
    problems += _check_review(folder, shelves)
    problems += _check_use(shelves, pages, code)
    for row in shelves.rows["claim"]:
        problems += _check_claim(row, shelves)
    for row in shelves.rows["measurement"]:
        problems += _check_measurement(row, repository, today)
    return sorted(set(problems), key=lambda one: (one.file, one.id, one.field, one.message))


# Reading


def _read(folder: Path) -> Shelves:
    shelves = Shelves()
    if not folder.is_dir():
        shelves.problems.append(Problem(str(folder), "", "", "no such data folder"))
        return shelves
    for name, tables in zip(TOPICS, (("source",), ("claim",), ("subject", "fact")), strict=True):
        paths = sorted((folder / name).glob("*.toml"))
        if (folder / f"{name}.toml").exists():
            shelves.problems.append(Problem(f"{name}.toml", "", "", one_topic_a_file(name)))
            shelves.broken = True
        elif not paths and name != "facts":
            shelves.problems.append(Problem(name, "", "", f"holds no file: put rows into {name}/<topic>.toml"))
            shelves.broken = True
        for path in paths:
            short = path.relative_to(folder).as_posix()
            document = _parse(path, short, shelves, tomllib.loads)
            if document is not None:
                _shelve(document, tables, short, shelves)
    _read_prices(folder / "prices.csv", shelves)
    for path in sorted((folder / "measurements").glob("*.json")):
        short = path.relative_to(folder).as_posix()
        document = _parse(path, short, shelves, json.loads)
        if document is not None:
            row = Row("measurement", short, document)
            shelves.rows["measurement"].append(row)
            if row.id and row.id != path.stem:
                message = f"{row.id!r} is not the name of the file: use {path.stem!r}, or rename the file"
                shelves.problems.append(row.problem("id", message))
    return shelves


def _read_prices(path: Path, shelves: Shelves) -> None:
    """Shelve the facts that the lines of prices.csv stand for; without the file there are none.

    The facts of the catalogue must be on their shelves by then: a price is the price of one of its cards.
    """
    if not path.is_file():
        return
    try:
        prices = price_table.read_prices(path.read_text(encoding="utf-8"))
    except (price_table.PriceError, UnicodeDecodeError) as error:
        shelves.broken = True
        shelves.problems.append(Problem(path.name, "", "", str(error)))
        return
    cards = {row.id for row in shelves.rows["subject"] if row.text("kind") == "gpu"}
    for price in prices:
        subject = price_table.as_subject(price)
        if price["card"] not in cards:
            mend = _near(price["card"], cards) or ": add it to the catalogue first"
            message = f"{price['card']!r} is no card of the catalogue{mend}"
            shelves.problems.append(Problem(path.name, f"price {subject['id']}", "card", message))
        plain = {key: subject[key] for key in ("id", "kind", "name")}
        shelves.rows["subject"].append(Row("subject", path.name, plain))
        shelves.rows["fact"].append(Row("fact", path.name, price_table.as_fact(price)))


def _parse(path: Path, short: str, shelves: Shelves, load: Callable[[str], Any]) -> dict[str, Any] | None:
    """Return a file's document, or None after noting why there is none, with the line."""
    text, message = "", ""
    document: Any = None
    try:
        text = path.read_text(encoding="utf-8")
        document = load(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"^(.*) \(at line (\d+), column (\d+)\)$", str(error))
        at_end = str(error).replace(" (at end of document)", "")
        message = f"line {found[2]}: {found[1]}" if found else f"line {len(text.splitlines())}: {at_end}"
        message += "; no valid TOML"
    except json.JSONDecodeError as error:
        message = f"line {error.lineno}: {error.msg}; no valid JSON"
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is no UTF-8: save the file as UTF-8"
    if not message and not isinstance(document, dict):
        message = "the file must hold one object in braces"
    if message:
        shelves.broken = True
        shelves.problems.append(Problem(short, "", "", message))
        return None
    if document.get("schema") != SCHEMA or isinstance(document.get("schema"), bool):
        have = document.get("schema")
        message = f"{have!r} is not the version that this program reads: use schema = {SCHEMA}"
        shelves.problems.append(Problem(short, "", "schema", message))
    found_document: dict[str, Any] = document
    return found_document


def _shelve(document: dict[str, Any], tables: tuple[str, ...], file: str, shelves: Shelves) -> None:
    for name, rows in document.items():
        if name == "schema":
            continue
        if name not in tables:
            message = f"unknown table: this file holds {' and '.join(f'[[{table}]]' for table in tables)}"
            shelves.problems.append(Problem(file, "", name, message))
        elif not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            message = f"must be a list of tables: write [[{name}]] above each row"
            shelves.problems.append(Problem(file, "", name, message))
        else:
            shelves.rows[name] += [Row(name, file, row) for row in rows]


# Fields


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _fits(value: object, kind: str) -> bool:
    if kind == _NUMBER:
        return _is_number(value)
    if kind == _VALUE:
        return _is_number(value) or isinstance(value, str)
    if kind == _TEXTS:
        return isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
    return isinstance(value, dict if kind == _TABLE else str)


def _full(value: object) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)


def _check_columns(row: Row, table: str = "", prefix: str = "") -> Iterable[Problem]:
    columns = COLUMNS[table or row.table]
    for name in row.values:
        if name not in columns:
            near = _near(name, columns) or f": use {', '.join(columns)}"
            yield row.problem(prefix + name, f"unknown field{near}")
    for name, column in columns.items():
        if name not in row.values:
            if column.required:
                yield row.problem(prefix + name, f"missing: it must be {column.kind}")
            continue
        value = row.values[name]
        if not _fits(value, column.kind):
            kind = type(value).__name__
            mend = ' in quotes, such as "2026-11-30"' if isinstance(value, date) else ""
            yield row.problem(prefix + name, f"is {kind} {value!s:.40}: it must be {column.kind}{mend}")
        elif column.kind != _NUMBER and not _is_number(value) and not column.may_be_empty and not _full(value):
            yield row.problem(prefix + name, f"is empty: it must be {column.kind}")


_PLAIN_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FACT_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z][a-z0-9]*(_[a-z0-9]+)*)?")


def _check_ids(shelves: Shelves) -> Iterable[Problem]:
    for table, rows in shelves.rows.items():
        first: dict[str, Row] = {}
        for row in rows:
            if not row.id:
                continue
            form = _FACT_ID if table == "fact" else _PLAIN_ID
            if not form.fullmatch(row.id):
                example = "'h200-sxm.memory_bytes' or 'ic-import-2023'" if table == "fact" else "'brown-2020'"
                yield row.problem("id", f"{row.id!r} is not of the form {example}: small letters, digits, hyphens")
            if row.id in first:
                yield row.problem("id", f"stands already in {first[row.id].file}: an id is given once")
            first.setdefault(row.id, row)


def _near(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    return f": did you mean {' or '.join(close)}?" if close else ""


def _one_of(row: Row, name: str, words: tuple[str, ...]) -> Iterable[Problem]:
    word = row.text(name)
    if word and word not in words:
        yield row.problem(name, f"{word!r} is unknown: use one of {', '.join(words)}")


# Dates


def _first_day(text: str) -> date | None:
    """Return the first day that a date, a month or a year names, or None if it is none of them."""
    if not re.fullmatch(r"\d{4}(-\d{2}){0,2}", text):
        return None
    parts = [int(part) for part in text.split("-")] + [1, 1]
    try:
        return date(parts[0], parts[1], parts[2])
    except ValueError:
        return None


def _check_date(row: Row, name: str, whole: bool, today: date | None) -> Iterable[Problem]:
    text = row.text(name)
    if not text:
        return
    day = _first_day(text)
    if day is None or (whole and len(text) != len("2026-11-30")):
        forms = "2026-11-30" if whole else "2026-11-30, 2026-11 or 2026"
        yield row.problem(name, f"{text!r} is no date: write {forms}")
    elif today and day > today:
        yield row.problem(name, f"{text} lies after today, {today.isoformat()}")


# Sources, subjects, facts


def _check_sources(shelves: Shelves, pages: dict[str, str] | None, of_configs: set[str]) -> Iterable[Problem]:
    used = of_configs | {row.text("source") for row in shelves.rows["fact"]}
    used |= {id for row in shelves.rows["claim"] for id, _ in claim_sources(row.values)}
    verified = {row.text("source") for row in shelves.rows["fact"] if row.text("status") == "verified"}
    cited = {one for text in (pages or {}).values() for one in re.findall(r"\[@([a-z0-9-]+)", text)}
    held: dict[str, str] = {}
    for row in shelves.rows["source"]:
        yield from _one_of(row, "kind", SOURCE_KINDS)
        yield from _check_date(row, "published", False, None)
        url, copy = row.text("url"), row.text("copy")
        if url and not re.fullmatch(r"https?://[^\s/]+\.[^\s/]+(/\S*)?", url):
            yield row.problem("url", f"{url!r} is no address: it must begin with https:// or http://")
        elif not url and "url" in row.values and not copy.strip():
            yield row.problem("url", "is empty: give an address, or say in copy why there is none")
        first = held.setdefault(plain_address(url), row.id) if url else row.id
        if first != row.id:
            yield row.problem("url", f"is the address of {first!r} too: one document is one source, so merge them")
        if row.id in verified and not copy.strip():
            yield row.problem("copy", "missing: a fact rests on it as verified, so say which text was read, and when")
        if row.id not in used and row.id not in cited and pages is not None:
            what = f"no fact, no config and no page uses it: cite it as [@{row.id}] or take it out"
            yield row.problem("id", what, True)


def plain_address(url: str) -> str:
    """Return what two spellings of one address share: without scheme, `www.`, a last slash, and capitals of the host.

    A fragment stays, because it may name one document of several on a page.
    """
    host, slash, path = url.partition("://")[2].partition("/")
    return (host.lower().removeprefix("www.").rstrip(".") + slash + path).rstrip("/")


def _check_subjects(shelves: Shelves) -> Iterable[Problem]:
    with_facts = {row.id.split(".")[0] for row in shelves.rows["fact"] if "." in row.id}
    for row in shelves.rows["subject"]:
        if row.id and row.id not in with_facts:
            yield row.problem("id", f"has no facts: add one with an id such as {row.id}.memory_bytes, or take it out")
        runs = row.values.get("measured")
        for name, place in runs.items() if isinstance(runs, dict) else ():
            run, dot, key = str(place).partition(".")
            found = shelves.by_id("measurement").get(run)
            results = found.values.get("results") if found else None
            if not dot or not isinstance(results, dict) or key not in results:
                yield row.problem(
                    "measured", f"{name}: no result {str(place)!r}: write 'run.key' of a file in measurements"
                )


def _check_facts(shelves: Shelves, today: date | None) -> Iterable[Problem]:
    sources, subjects = shelves.by_id("source"), shelves.by_id("subject")
    for row in shelves.rows["fact"]:
        yield from _one_of(row, "status", STATUSES)
        source = row.text("source")
        if source and source not in sources:
            yield row.problem("source", f"no source {source!r}{_near(source, sources)}")
        if row.text("status") == "unverified" and not row.text("to_check").strip():
            yield row.problem("to_check", "missing: name the document that would settle an unverified fact")
        subject, dot, name = row.id.partition(".")
        if dot and subject not in subjects:
            mend = _near(subject, subjects) or ": add it as [[subject]], or write the id without a dot"
            yield row.problem("id", f"no subject {subject!r}{mend}")
        name = name if dot else row.id.replace("-", "_")
        yield from _check_unit(row, name, catalogue=bool(dot))
        if _holds_date(name):
            yield from _check_stated_date(row, bool(dot), today)
        yield from _check_date(row, "as_of", False, today)
        yield from _check_date(row, "checked", True, today)
        checked = _first_day(row.text("checked"))
        as_of = _first_day(row.text("as_of"))
        if checked and as_of and as_of > checked:
            yield row.problem("as_of", f"{row.text('as_of')} lies after the day it was checked, {row.text('checked')}")
        published = _first_day(sources[source].text("published")) if source in sources else None
        if checked and published and published > checked:
            message = f"{row.text('checked')} lies before its source was published, {sources[source].text('published')}"
            yield row.problem("checked", message)


def _check_review(folder: Path, shelves: Shelves) -> Iterable[Problem]:
    """The table of review intervals is sound, and a fact that chooses a rule chooses one that there is."""
    try:
        rules = [rule.id for rule in review.rules_in(folder)]
    except DataError as error:
        yield Problem(review.FILE, "", "", str(error).removeprefix(f"{review.FILE}: "))
        return
    for row in shelves.rows["fact"]:
        chosen = row.text("review")
        if chosen and chosen not in rules:
            yield row.problem("review", f"no rule {chosen!r}{_near(chosen, rules) or ': use ' + ', '.join(rules)}")


def _holds_date(name: str) -> bool:
    """Say whether a field holds a date: its name ends in `_date`, or it is the day on which a card was launched."""
    return name.endswith("_date") or name == "launch"


def _check_stated_date(row: Row, catalogue: bool, today: date | None) -> Iterable[Problem]:
    """A fact whose name says so holds a date, as exactly as its source gives it."""
    value = row.values.get("value")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield row.problem("value", f"is {value}: a date is text in quotes, such as 2014-09-07, 2014-09 or 2014")
    if catalogue:
        yield from _check_date(row, "value", False, today)
    day, checked = _first_day(row.text("value")), _first_day(row.text("checked"))
    if day and checked and day > checked:
        yield row.problem("value", f"{row.text('value')} lies after the day it was checked, {row.text('checked')}")


def _check_unit(row: Row, name: str, catalogue: bool, at: str = "unit") -> Iterable[Problem]:
    value, unit = row.number("value"), row.text("unit")
    if isinstance(row.values.get("value"), str):
        yield from _check_text(row, name, unit, catalogue, at)
    if value is None or "unit" not in row.values:
        return
    try:
        held = units.hold(value, unit, name)[1]
    except units.UnitError as error:
        yield row.problem(at, str(error))
        return
    if catalogue and held.dimension and not units.name_unit(name).dimension:
        yield row.problem(at, f"{unit!r} does not show in the name {name!r}: end it in the unit, such as {name}_bytes")


def _check_text(row: Row, name: str, unit: str, catalogue: bool, at: str) -> Iterable[Problem]:
    """Text is for fields of the catalogue, has no unit, and stands under no name that promises something else."""
    value = row.text("value").strip()
    if _holds_date(name) and catalogue:
        pass  # text that looks like a number: its own check follows
    elif re.fullmatch(r"\d{4}(-\d{2}){1,2}", value):
        yield row.problem("value", f"{value!r} is a date: end its name in _date, such as {name}_date")
    elif re.fullmatch(r"[-+]?[\d.,]*\d(e[-+]?\d+)?", value):
        yield row.problem("value", f"{value!r} is a number in quotes: it must be a number, without them")
    elif not catalogue:
        yield row.problem("value", f"is text {value!r:.40}: it must be a number; only a field of a subject is text")
    elif units.name_unit(name).dimension or name.endswith("_count"):
        yield row.problem("value", f"is text, and the name {name!r} promises a number")
    if unit:
        yield row.problem(at, f'{unit!r} goes with a number: use "" for a text')


def _texts(repository: Path, folders: tuple[str, ...], endings: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for folder in folders:
        for path in sorted((repository / folder).rglob("*")):
            if path.suffix in endings and path.is_file():
                found[path.relative_to(repository).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
    return found


def _check_use(shelves: Shelves, pages: dict[str, str] | None, code: dict[str, str] | None) -> Iterable[Problem]:
    """A fact is used by the catalogue, a claim, a page, an example or the package; nothing else keeps it here."""
    if pages is None or code is None:
        return
    subjects = shelves.by_id("subject")
    reads = re.compile(r"""\bfact(?:_text)?\(\s*["']([^"']+)["']""")
    used = {one for text in (pages | code).values() for one in reads.findall(text)}
    for row in shelves.rows["claim"]:
        used.update(_named_facts(row))
    for row in shelves.rows["fact"]:
        in_catalogue = "." in row.id and row.id.split(".")[0] in subjects
        if row.id and not in_catalogue and row.id not in used:
            yield row.problem("id", f'nothing uses it: read it as fact("{row.id}"), or take it out', True)


# Claims


PLAIN: dict[str, Any] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "max": max,
    "min": min,
    "round": round,
    "sum": sum,
}
SIZES = ("KIB", "MIB", "GIB", "TIB", "KB", "MB", "GB", "TB")
"""What an expression may use besides the doors and the models: plain functions, and units."""


class _Reported(Exception):
    """A fact that an expression reads is broken, and that is a problem of the fact."""


def claim_names(facts: Mapping[str, Row], runs: Mapping[str, Row], reads: set[str] | None = None) -> dict[str, Any]:
    """Return the names that a claim's expression may use.

    They are `fact` and `measured`, `gpt_shape(id)` (the shape of a model in the catalogue), `dtype_bytes`, the
    sizes `KIB` to `TB`, every public name of `gpumoat.llm`, `Strips`, `Tiles`, `Waves` and `warp_traffic`, and
    `abs ceil floor max min round sum`.

    Args:
        facts: The facts by id.
        runs: The measurements by id.
        reads: Collects what is read: the ids of facts, and of a model's shape its id with a dot behind it.
    """

    def held(id: str) -> int | float:
        if id not in facts:
            raise KeyError(f"no fact {id!r}{_near(id, facts)}")
        value = facts[id].number("value")
        if isinstance(facts[id].values.get("value"), str):
            raise KeyError(f"fact {id!r} is text, and an expression computes with numbers")
        if value is None:
            raise _Reported
        try:
            return units.hold(value, facts[id].text("unit"), id.replace("-", "_").split(".")[-1])[0]
        except units.UnitError:
            raise _Reported from None

    def fact(id: str) -> int | float:
        if reads is not None:
            reads.add(id)
        return held(id)

    def measured(run: str, key: str) -> int | float:
        results = runs[run].values.get("results") if run in runs else None
        if not isinstance(results, dict) or not isinstance(results.get(key), dict):
            raise KeyError(f"no result {key!r} of a measurement {run!r}")
        return units.hold(results[key]["value"], results[key].get("unit", ""), key)[0]

    def gpt_shape(id: str) -> llm.GPTShape:
        if reads is not None:
            reads.add(id + ".")
        hidden = int(held(id + ".hidden"))
        return llm.GPTShape(
            hidden=hidden,
            layers=int(held(id + ".layers")),
            heads=int(held(id + ".heads")),
            vocabulary=int(held(id + ".vocabulary")),
            positions=int(held(id + ".positions")),
            feed_forward=int(held(id + ".feed_forward_ratio") * hidden),
            head_dim=int(held(id + ".head_dim")),
        )

    sizes = {name: getattr(units, name) for name in SIZES}
    models: dict[str, Any] = {name: getattr(llm, name) for name in llm.__all__}
    models |= {name: getattr(partition, name) for name in ("Strips", "Tiles", "Waves")}
    models["warp_traffic"] = coalescing.warp_traffic
    doors = {"fact": fact, "measured": measured, "gpt_shape": gpt_shape, "dtype_bytes": units.dtype_bytes}
    return {"__builtins__": {}, **sizes, **PLAIN, **models, **doors}


def claim_sources(row: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the sources that a claim's verdict rests on, each with the place in it.

    They stand in the claim's field `sources` as on a page: ``"brown-2020, table 2.1"``, or the id alone.
    """
    sources = row.get("sources")
    if not isinstance(sources, list):
        return []
    parts = [one.partition(",") for one in sources if isinstance(one, str)]
    return [(id.strip(), place.strip()) for id, _, place in parts]


def _named_facts(row: Row) -> list[str]:
    facts = row.values.get("facts")
    return [one for one in facts if isinstance(one, str)] if isinstance(facts, list) else []


def _check_claim(row: Row, shelves: Shelves) -> Iterable[Problem]:
    yield from _one_of(row, "verdict", VERDICTS)
    yield from _one_of(row, "document", DOCUMENTS)
    facts = shelves.by_id("fact")
    named = _named_facts(row)
    for one in named:
        if one not in facts:
            yield row.problem("facts", f"no fact {one!r}{_near(one, facts)}")
    known = shelves.by_id("source")
    for one, _ in claim_sources(row.values):
        if one not in known:
            yield row.problem("sources", f"no source {one!r}{_near(one, known)}")
    value, right, verdict = row.number("value"), row.number("right"), row.text("verdict")
    numeric = "value" in row.values or "right" in row.values
    if numeric and "unit" not in row.values:
        yield row.problem("unit", 'missing: a number needs one; use "" for a pure number')
    elif not numeric and "unit" in row.values:
        yield row.problem("unit", "has no number to go with: give value or right, or take it out")
    if "expression" in row.values and "right" not in row.values:
        yield row.problem("right", "missing: expression stands alone, and does not count without it")
    if "right" in row.values and "expression" not in row.values and not claim_sources(row.values):
        yield row.problem("expression", "missing: right stands alone; compute it, or name the source that says it")
    if (form := row.values.get("form")) is not None and form not in verdicts.FORMS:
        yield row.problem("form", f"{form!r} is unknown: use one of {', '.join(verdicts.FORMS)}")
    judged = verdict in VERDICTS and verdict not in UNJUDGED
    if judged and not (row.text("expression").strip() or named or claim_sources(row.values)):
        yield row.problem("facts", f"nothing decides that it is {verdict}: name a fact, a source or an expression")
    if value is not None and judged and "right" not in row.values:
        yield row.problem("right", f"missing: a number is {verdict} against the right one")
    if verdict in UNJUDGED and "right" in row.values:
        yield row.problem("verdict", f"{verdict!r} has a right value: say what the arithmetic says, such as confirmed")
    within = row.values.get("within", WITHIN)
    if not _is_number(within) or not 0 <= within < 1:
        yield row.problem("within", f"{within!r} is no tolerance: use a number from 0 to 1, such as {WITHIN}")
        within = WITHIN
    try:
        scale = units.hold(1, row.text("unit"), "")[0]
    except units.UnitError as error:
        yield row.problem("unit", str(error))
        return
    exact = right
    if row.text("expression").strip():
        computed = yield from _computed(row, "expression", shelves, scale)
        if computed is None:
            return
        if right is not None and abs(right - computed) > within * abs(computed):
            gives = f"{right!r} is not what the expression gives, {computed:.10g} within {within:g}"
            yield row.problem("right", f"{gives}: if one of its facts changed, so does this")
        exact = computed
        if not _computes(row.text("expression")) and not claim_sources(row.values):
            message = "tests nothing, for it reads no fact and no model: name the source of its numbers in `sources`"
            yield row.problem("expression", message)
    if value is not None and exact is not None and judged:
        yield from _check_verdict(row, shelves, value, exact, scale)


def _check_verdict(
    row: Row, shelves: Shelves, value: int | float, exact: int | float, scale: int | float
) -> Iterator[Problem]:
    """Yield what the scale of verdicts has against a claim with a number."""
    verdict, form = row.text("verdict"), row.text("form")
    then: int | float | None = None
    if row.text("then").strip():
        then = yield from _computed(row, "then", shelves, scale)
        if verdict != "outdated":
            yield row.problem("then", f"has no use where the verdict is {verdict}: take it out")
    if form and form not in verdicts.FORMS:
        return
    try:
        against = verdicts.contradiction(verdict, value, exact, form, then)
    except ValueError as error:
        yield row.problem("form", str(error))
        return
    if against and not row.text("why").strip():
        yield row.problem("verdict", f"{against}. Say that, or give the reason in `why`")
    elif not against and "why" in row.values:
        yield row.problem("why", f"has no use: {verdict} is what the scale says; take it out")


def _computed(
    row: Row, name: str, shelves: Shelves, scale: int | float
) -> Generator[Problem, None, int | float | None]:
    """Yield what is wrong with an expression of a claim; return its value in the claim's unit, or None."""
    named, facts, reads = _named_facts(row), shelves.by_id("fact"), set[str]()
    outcome = _evaluate(row.text(name), claim_names(facts, shelves.by_id("measurement"), reads))
    if isinstance(outcome, str):
        yield row.problem(name, outcome)
    if outcome is None or isinstance(outcome, str):
        return None
    for one in sorted(reads):
        if one.endswith(".") and not any(each.startswith(one) for each in named):
            yield row.problem("facts", f"name none of {one[:-1]!r}, whose shape the expression reads")
        elif not one.endswith(".") and one not in named:
            yield row.problem("facts", f"lack {one!r}, which the expression reads")
    return outcome / scale


def _computes(expression: str) -> bool:
    """Say whether an expression calls a door or a model: constants and plain arithmetic are true on any day."""
    called = {node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)}
    return bool(called & claim_names({}, {}).keys() - PLAIN.keys() - {*SIZES, "dtype_bytes"})


def _evaluate(expression: str, names: dict[str, Any]) -> int | float | str | None:
    """Return an expression's value, or in words why it has none, or None where that is reported elsewhere."""
    try:
        code = compile(ast.parse(expression, mode="eval"), "expression", "eval")
        value = eval(code, names)
    except _Reported:
        return None
    except SyntaxError as error:
        return f"is no Python expression: {error.msg}"
    except Exception as error:  # whatever data in an expression raises is a problem of the data
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        return f"fails: {text}"
    if not _is_number(value):
        return f"gives {value!r:.40}: it must give a number, in base units"
    number: int | float = value
    return number


# Measurements


def _check_measurement(row: Row, repository: Path | None, today: date | None) -> Iterable[Problem]:
    yield from _check_date(row, "date", True, today)
    script = row.text("script")
    if script:
        path = Path(script)
        if path.is_absolute() or ".." in path.parts:
            yield row.problem("script", f"{script!r} leaves the repository: give a path from its root")
        elif repository and not (repository / path).is_file():
            yield row.problem("script", f"no file {script!r} in the repository: give the path of what was run")
    results = row.values.get("results")
    for key, result in results.items() if isinstance(results, dict) else ():
        at = f"results.{key}"
        if not isinstance(result, dict):
            yield row.problem(at, 'must be an object such as {"value": 1, "unit": "bytes", "what": "…"}')
            continue
        inner = Row("measurement", row.file, {"id": row.id, **result})
        for problem in _check_columns(Row("measurement", row.file, result), "result", at + "."):
            yield row.problem(problem.field, problem.message)
        yield from _check_unit(inner, key, catalogue=True, at=at + ".unit")
