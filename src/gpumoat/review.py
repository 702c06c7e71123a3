"""By when a fact must be checked again, by a table of rules that is data, and which facts are past that day.

Promises: every fact falls under exactly one rule of ``data/review.toml``; a fact is due if its day lies before the
newest ``checked`` date of the registry. The clock is never asked, so one checkout builds one site on any day, and
the first fact that somebody checks again in a new month moves the day for all.

Left out: checking anything. A fact that is due is marked and listed, and stays until a person has looked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpumoat.facts import DATA, DataError, Record, Registry, registry

FILE = "review.toml"
CONDITIONS = ("names", "units", "statuses", "source_kinds", "subject_kinds")


@dataclass(frozen=True)
class Rule:
    """How long a kind of fact may stand unchecked.

    Attributes:
        id: The name that a fact can choose by ``review = "…"``.
        why: The reason, for a reader.
        days: Days after which it must be checked again, or None for never.
        chosen_only: Whether it applies only to facts that name it.
        conditions: Each a field of ``CONDITIONS`` with the values of which one must hold; all must hold.
    """

    id: str
    why: str
    days: int | None
    chosen_only: bool
    conditions: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Due:
    """A fact with the day by which it must be checked again."""

    fact: Record
    rule: Rule
    day: date | None


def read_rules(text: str, file: str = FILE) -> tuple[Rule, ...]:
    """Read the table of rules.

    Raises:
        DataError: It is no TOML, or a rule is not as it must be; the message names the rule and the field.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{file}: {error}") from None
    if document.get("schema") != 1 or set(document) != {"schema", "rule"}:
        raise DataError(f"{file}: must hold schema = 1 and [[rule]] tables, and nothing else")
    rules: list[Rule] = []
    for row in document["rule"]:
        rules.append(_rule(row, file))
        if rules[-1].id in [rule.id for rule in rules[:-1]]:
            raise DataError(f"{file}: rule {rules[-1].id!r}: stands there twice")
    for rule in rules[:-1]:
        if not rule.conditions and not rule.chosen_only:
            raise DataError(f"{file}: rule {rule.id!r}: has no condition, so no later rule would ever apply")
    if not rules or rules[-1].conditions or rules[-1].chosen_only:
        raise DataError(f"{file}: the last rule must have no condition, so that every fact falls under a rule")
    return tuple(rules)


def _rule(row: dict[str, Any], file: str) -> Rule:
    def wrong(field: str, message: str) -> DataError:
        return DataError(f"{file}: rule {row.get('id', '(no id)')!r}: {field}: {message}")

    for field in row:
        if field not in ("id", "why", "days", "chosen_only", *CONDITIONS):
            raise wrong(field, f"unknown: use id, why, days, chosen_only, {', '.join(CONDITIONS)}")
    for field in ("id", "why"):
        if not isinstance(row.get(field), str) or not row[field].strip():
            raise wrong(field, "missing: it must be text")
    days = row.get("days")
    if days is not None and (isinstance(days, bool) or not isinstance(days, int) or days < 1):
        raise wrong("days", f"{days!r} is no number of days: use a whole number from 1, or leave it out for never")
    if not isinstance(row.get("chosen_only", False), bool):
        raise wrong("chosen_only", "must be true or false")
    conditions = []
    for field in CONDITIONS:
        if field in row:
            values = row[field]
            if not isinstance(values, list) or not values or not all(isinstance(one, str) and one for one in values):
                raise wrong(field, "must be a list of texts")
            conditions.append((field, tuple(values)))
    return Rule(row["id"], row["why"], days, row.get("chosen_only", False), tuple(conditions))


def rules_in(folder: Path) -> tuple[Rule, ...]:
    """Return the rules of a data folder; of one without such a file, the package's own.

    Raises:
        DataError: The table of rules is broken.
    """
    path = folder / FILE
    return read_rules((path if path.is_file() else Path(DATA) / FILE).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def load_rules() -> tuple[Rule, ...]:
    """Return the package's own rules.

    Raises:
        DataError: The table of rules is broken.
    """
    return rules_in(Path(DATA))


def rule_of(fact: Record, known: Registry, rules: Iterable[Rule] | None = None) -> Rule:
    """Return the rule under which a fact falls.

    Raises:
        DataError: The fact names a rule that there is not.
    """
    rules = list(load_rules() if rules is None else rules)
    chosen = fact.text("review")
    if chosen:
        for rule in rules:
            if rule.id == chosen:
                return rule
        names = ", ".join(rule.id for rule in rules)
        raise DataError(f"{fact.file}: fact {fact.id!r}: review: no rule {chosen!r}: use one of {names}")
    subject = known.subjects.get(fact.id.partition(".")[0])
    source = known.sources.get(fact.text("source"))
    has = {
        "names": fact.id,
        "units": fact.text("unit"),
        "statuses": fact.text("status"),
        "source_kinds": source.text("kind") if source else "",
        "subject_kinds": subject.text("kind") if subject and "." in fact.id else "",
    }
    for rule in rules:
        if rule.chosen_only:
            continue
        if all(any(_holds(field, has[field], value) for value in values) for field, values in rule.conditions):
            return rule
    return rules[-1]


def _holds(field: str, have: str, wanted: str) -> bool:
    return fnmatchcase(have, wanted) if field == "names" else have == wanted


def review_by(fact: Record, known: Registry, rules: Iterable[Rule] | None = None) -> date | None:
    """Return the day by which a fact must be checked again, or None for never (or for a fact without a date)."""
    days = rule_of(fact, known, rules).days
    checked = _day(fact.text("checked"))
    return checked + timedelta(days=days) if checked and days is not None else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@lru_cache(maxsize=8)
def newest_check(known: Registry) -> date | None:
    """Return the newest day on which any fact of a registry was checked: the day that stands for today."""
    days = [day for day in (_day(fact.text("checked")) for fact in known.facts.values()) if day]
    return max(days, default=None)


def due_since(fact: Record, known: Registry | None = None) -> date | None:
    """Return the day since which a fact is due for review, or None if it is not."""
    known = registry() if known is None else known
    today, day = newest_check(known), review_by(fact, known)
    return day if today and day and day < today else None


def schedule(known: Registry, rules: Iterable[Rule] | None = None) -> list[Due]:
    """Return every fact with its rule and its day, the earliest first and those without a day last."""
    rules = list(load_rules() if rules is None else rules)
    found = [Due(fact, rule_of(fact, known, rules), review_by(fact, known, rules)) for fact in known.facts.values()]
    return sorted(found, key=lambda due: (due.day or date.max, due.fact.id))
