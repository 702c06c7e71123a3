"""Sources and facts: the one door through which data enters, and the record of what was read.

A value comes into a worked example, or into a model, by one of four doors: ``fact`` (cited: a source, a
date, a status; ``fact_text`` where the value is text, such as a card's form factor), ``measured`` (a committed
run on real hardware), ``assume`` (a choice, shown as one) and ``claim`` (what a source document says, right or
wrong, with our verdict). Each returns a plain ``int``, ``float`` or text, in the unit that its name states, and
each notes the read with every listener of ``recording``. That note is what a number's card, the lock file and the
lint are made from.

Promises: one registry, loaded once and never changed; no read escapes a listener, however deep in library
code it happens (so nothing that reads a fact may be cached). Left out: judging the data. That is
``gpumoat.registry_check``.

Standard library only. On MicroPython the same registry comes from one JSON file instead of TOML.
"""

import json
import os

from gpumoat.units import Unit, UnitError, hold

KINDS = ("cited", "measured", "assumed", "claimed")
"""What a door can say of a value; anything else on a page is computed."""

STATUSES = ("verified", "quoted", "unverified")
VERDICTS = ("confirmed", "approximately", "outdated", "wrong", "inconsistent", "opinion", "unverifiable")

TOPICS = ("sources", "claims", "facts")
"""Folders of data files in TOML, one file a topic."""

DATA = os.path.join(os.path.dirname(__file__), "data") if hasattr(os, "path") else "data"


class DataError(ValueError):
    """An unknown id or a broken data file; the message names it and says what would be right."""


class Record:
    """One row of a data file, with its keys as attributes; a key that the row lacks reads as None."""

    def __init__(self, kind: str, row: dict[str, object], file: str) -> None:
        self.kind = kind
        self.row = row
        self.file = file
        self.id = str(row.get("id", ""))

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.row.get(name)

    def text(self, name: str) -> str:
        """Return a field as text, empty where it is missing."""
        value = self.row.get(name)
        return "" if value is None else str(value)

    def __repr__(self) -> str:
        return f"{self.kind}({self.id!r})"


class Read:
    """One value that came through a door.

    Attributes:
        kind: ``cited``, ``measured``, ``assumed`` or ``claimed``.
        id: The fact's or claim's id, ``run.key`` of a measurement, or the reason of an assumption.
        value: The value handed out, in the unit it is held in; text for a field such as a card's form factor.
        unit: That unit.
        record: The registry's row, or None for an assumption.
    """

    def __init__(self, kind: str, id: str, value: int | float | str, unit: Unit, record: Record | None) -> None:
        self.kind = kind
        self.id = id
        self.value = value
        self.unit = unit
        self.record = record

    @property
    def key(self) -> tuple[str, str]:
        """What makes two reads the same one; two assumptions may give one reason for two values."""
        return (self.kind, self.id if self.kind != "assumed" else f"{self.value!r} {self.id}")

    def __repr__(self) -> str:
        return f"Read({self.kind}, {self.id!r}, {self.value!r})"


class Registry:
    """Everything under ``gpumoat/data``: rows by id, each knowing the file it stands in."""

    def __init__(self) -> None:
        self.sources: dict[str, Record] = {}
        self.subjects: dict[str, Record] = {}
        self.facts: dict[str, Record] = {}
        self.claims: dict[str, Record] = {}
        self.measurements: dict[str, Record] = {}

    def add(self, table: str, row: dict[str, object], file: str) -> None:
        """Add one row.

        Raises:
            DataError: The id is missing or taken.
        """
        shelf: dict[str, Record] = getattr(self, table)
        record = Record(table[:-1], row, file)
        if not record.id:
            raise DataError(f"{file}: a {record.kind} has no id")
        if record.id in shelf:
            raise DataError(f"{file}: {record.kind} {record.id!r} stands already in {shelf[record.id].file}")
        shelf[record.id] = record


_listeners: list[list[Read]] = []
_registry: Registry | None = None


class recording:  # noqa: N801 - reads as a verb in `with recording() as reads`
    """Collect every read that happens inside a ``with`` block, in order."""

    def __enter__(self) -> list[Read]:
        self._reads: list[Read] = []
        _listeners.append(self._reads)
        return self._reads

    def __exit__(self, *_: object) -> None:
        for index in range(len(_listeners) - 1, -1, -1):
            if _listeners[index] is self._reads:
                del _listeners[index]
                break


def note(read: Read) -> None:
    """Tell every listener of a read."""
    for reads in _listeners:
        reads.append(read)


def one_topic_a_file(name: str) -> str:
    """Return what to do with the rows of ``sources.toml``, ``claims.toml`` or ``facts.toml``."""
    return f"move its rows into {name}/<topic>.toml: one file a topic, so that two changes do not meet at its end"


def load_registry(folder: str = DATA) -> Registry:
    """Read the data files of a folder: ``sources``, ``claims`` and ``facts`` have one file a topic.

    Raises:
        DataError: A file is no valid TOML or JSON (with its line), an id is missing or taken twice, or rows stand
            in one file for all topics.
    """
    import tomllib

    found = Registry()
    files: list[str] = []
    for name in TOPICS:
        topics = os.path.join(folder, name)
        if os.path.exists(topics + ".toml"):
            raise DataError(f"{name}.toml: {one_topic_a_file(name)}")
        if os.path.isdir(topics):
            files += [os.path.join(topics, file) for file in sorted(os.listdir(topics)) if file.endswith(".toml")]
    for path in files:
        short = os.path.relpath(path, folder).replace(os.sep, "/")
        with open(path, "rb") as stream:
            try:
                document = tomllib.load(stream)
            except tomllib.TOMLDecodeError as error:
                raise DataError(f"{short}: {error}") from None
        for table, rows in document.items():
            shelf = table + "s"
            if table == "schema":
                continue
            if not hasattr(found, shelf) or not isinstance(rows, list):
                raise DataError(f"{short}: unknown table {table!r}: use source, subject, fact or claim")
            for row in rows:
                found.add(shelf, row, short)
    path = os.path.join(folder, "prices.csv")
    if os.path.exists(path):
        from gpumoat.price_table import PriceError, as_fact, as_subject, read_prices

        with open(path, encoding="utf-8", newline="") as text:
            try:
                prices = read_prices(text.read())
            except PriceError as error:
                raise DataError(f"prices.csv: {error}") from None
        for price in prices:
            found.add("subjects", as_subject(price), "prices.csv")
            found.add("facts", as_fact(price), "prices.csv")
    runs = os.path.join(folder, "measurements")
    if os.path.isdir(runs):
        for name in sorted(os.listdir(runs)):
            if name.endswith(".json"):
                with open(os.path.join(runs, name), encoding="utf-8") as text:
                    try:
                        run = json.load(text)
                    except ValueError as error:
                        raise DataError(f"measurements/{name}: {error}") from None
                if not isinstance(run, dict):
                    raise DataError(f"measurements/{name}: a run is one object, {{...}}")
                found.add("measurements", run, "measurements/" + name)
    return found


def registry() -> Registry:
    """Return the package's own data, loaded on the first call."""
    global _registry
    if _registry is None:
        _registry = load_registry()
    return _registry


def near(id: str, ids: list[str]) -> str:
    """Return a hint that names ids which share a word with an unknown one."""
    words = [word for word in id.replace(".", " ").replace("-", " ").replace("_", " ").split() if len(word) > 2]
    near = sorted(one for one in ids if any(word in one for word in words))[:5]
    return f": did you mean {', '.join(near)}?" if near else ""


def held_value(record: Record) -> tuple[int | float, Unit]:
    """Return a fact's or claim's value and the unit in which its id holds it.

    Raises:
        DataError: The value is no number, or its unit does not fit the id.
    """
    value = record.row.get("value")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DataError(f"{record.file}: {record.kind} {record.id!r} has no number as its value")
    name = record.id.replace("-", "_").split(".")[-1] if record.kind == "fact" else ""
    try:
        return hold(value, record.text("unit"), name)
    except UnitError as error:
        raise DataError(f"{record.file}: {record.kind} {record.id!r}: {error}") from None


def fact(id: str) -> int | float:
    """Return a cited fact's value, in the unit that its id states (base units where it states none).

    Raises:
        DataError: No fact has this id.
    """
    facts = registry().facts
    if id not in facts:
        raise DataError(f"no fact {id!r}{near(id, list(facts))}")
    value, unit = held_value(facts[id])
    note(Read("cited", id, value, unit, facts[id]))
    return value


def fact_text(id: str) -> str:
    """Return a cited fact whose value is text, such as ``fact_text("h100-sxm.process")``.

    Raises:
        DataError: No fact has this id, or its value is a number, which ``fact`` returns.
    """
    facts = registry().facts
    if id not in facts:
        raise DataError(f"no fact {id!r}{near(id, list(facts))}")
    value = facts[id].row.get("value")
    if not isinstance(value, str):
        raise DataError(f'{facts[id].file}: fact {id!r} is a number: read it as fact("{id}")')
    note(Read("cited", id, value, Unit("", 1, 1, ""), facts[id]))
    return value


def as_of(id: str) -> str:
    """Return the date for which a cited fact holds, as its data file states it.

    A year that no script may type, such as the end of a fiscal year, comes from the fact itself.

    Returns:
        ``2025-01-26``, ``2025-01`` or ``2025``.

    Raises:
        DataError: No fact has this id.
    """
    fact(id)
    return registry().facts[id].text("as_of")


def claim(id: str) -> int | float:
    """Return what a source document says, right or wrong, in base units; the verdict stands on its card.

    Raises:
        DataError: No claim has this id, or the claim is not a number.
    """
    claims = registry().claims
    if id not in claims:
        raise DataError(f"no claim {id!r}{near(id, list(claims))}")
    value, unit = held_value(claims[id])
    note(Read("claimed", id, value, unit, claims[id]))
    return value


def measured(run: str, key: str) -> int | float:
    """Return one result of a committed run on real hardware, in base units.

    Raises:
        DataError: There is no such run, or it has no such result.
    """
    runs = registry().measurements
    if run not in runs:
        raise DataError(f"no measurement {run!r}{near(run, list(runs))}")
    results = runs[run].row.get("results")
    if not isinstance(results, dict) or key not in results:
        names = ", ".join(sorted(results)) if isinstance(results, dict) else "none"
        raise DataError(f"measurement {run!r} has no result {key!r}: it has {names}")
    row = results[key]
    value = row.get("value") if isinstance(row, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DataError(f"{runs[run].file}: result {key!r} has no number as its value")
    try:
        value, unit = hold(value, str(row.get("unit", "")), key)
    except UnitError as error:
        raise DataError(f"{runs[run].file}: {key}: {error}") from None
    note(Read("measured", run + "." + key, value, unit, runs[run]))
    return value


def assume(value: int | float, why: str) -> int | float:
    """Return a value that is a choice, and say why it was chosen.

    Args:
        value: The value, in the unit of the name that it is given to.
        why: The reason, in words for a reader; it stands on the number's card.

    Raises:
        DataError: The reason is missing, or the value is no number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DataError(f"assume() takes a number, not {value!r}")
    if not isinstance(why, str) or len(why.strip()) < 3:
        raise DataError(f"assume({value!r}, …) needs a reason in words")
    note(Read("assumed", why, value, Unit("", 1, 1, ""), None))
    return value
