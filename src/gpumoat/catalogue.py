"""The catalogue of accelerators as rows: what the fields are called, which cards there are, and all of it as data.

The command and the reference page show the same fields under the same titles, because both ask here. Promises: a
field that a card has is in every export, with its source and status, in the unit that its name states and as the
source states it. Left out: the values themselves, which are facts, and how a table looks.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

from gpumoat.facts import DataError, Record, Registry, held_value, near, registry
from gpumoat.review import review_by, rule_of
from gpumoat.units import display_unit, hold, name_unit

SCHEMA = 1


@dataclass(frozen=True)
class Field:
    """A field of a card.

    Attributes:
        name: The part of the fact's id after the dot.
        title: Its heading.
        unit: The unit that it is shown in; empty for text and counts.
    """

    name: str
    title: str
    unit: str = ""


def _rates(kind: str) -> tuple[Field, ...]:
    floats = [Field(f"{dtype.lower()}_{kind}_flop_per_s", dtype, "TFLOP/s") for dtype in FLOATS]
    return (*floats, Field(f"int8_{kind}_op_per_s", "INT8", "TOP/s"))


FLOATS = ("TF32", "BF16", "FP16", "FP8", "FP4")
"""Floating-point types of matrix units, widest first."""

FORM = (
    Field("form_factor", "Form"),
    Field("launch", "Announced"),
)
MEMORY = (
    Field("memory_type", "Kind"),
    Field("memory_bytes", "Label", "GiB"),
    Field("driver_memory_bytes", "Driver counts", "MiB"),
    Field("usable_memory_bytes", "A program gets", "GiB"),
    Field("memory_bandwidth_bytes_per_s", "Bandwidth", "GB/s"),
    Field("memory_bus_bits", "Bus", "bit"),
)
PLAIN = (
    Field("fp64_vector_flop_per_s", "FP64", "TFLOP/s"),
    Field("fp64_matrix_flop_per_s", "FP64 matrix", "TFLOP/s"),
    Field("fp32_vector_flop_per_s", "FP32", "TFLOP/s"),
)
DENSE = _rates("dense")
SPARSE = _rates("sparse")
POWER = (
    Field("tdp_w", "Power", "W"),
    Field("link_bandwidth_bytes_per_s", "Links, both ways", "GB/s"),
    Field("host_to_device_bytes_per_s", "Copy to the card, as measured", "GB/s"),
    Field("device_to_host_bytes_per_s", "Copy from the card, as measured", "GB/s"),
)
SILICON = (
    Field("process", "Process"),
    Field("die_area_m2", "Die", "mm²"),
    Field("transistors_count", "Transistors", "billion"),
    Field("sm_count", "Multiprocessors"),
    Field("cu_count", "Compute units"),
    Field("core_count", "FP32 cores"),
    Field("tensor_core_count", "Tensor cores"),
    Field("sm_threads", "Threads a multiprocessor holds"),
    Field("full_sm_count", "Multiprocessors of the full chip"),
    Field("full_tensor_core_count", "Tensor cores of the full chip"),
)
GROUPS = {
    "Form": FORM,
    "Memory": MEMORY,
    "Peak rate, no matrix units": PLAIN,
    "Peak rate, dense": DENSE,
    "Peak rate, with sparsity": SPARSE,
    "Power and links": POWER,
    "Silicon": SILICON,
}
"""Every field of a card, in the order in which it is shown."""


def all_fields() -> list[Field]:
    """Return the fields of all groups in order."""
    return [field for group in GROUPS.values() for field in group]


def cards(vendor: str = "") -> list[Record]:
    """Return the accelerators by vendor, those with most cards first, each vendor's in the order of the data file.

    Args:
        vendor: Only those of one vendor, in any case; empty for all.

    Raises:
        DataError: No card is of that vendor.
    """
    found = [row for row in registry().subjects.values() if row.text("kind") == "gpu"]
    if not vendor:
        vendors = [row.text("vendor") for row in found]
        ranked = sorted(dict.fromkeys(vendors), key=lambda name: -vendors.count(name))
        return sorted(found, key=lambda row: ranked.index(row.text("vendor")))
    wanted = [row for row in found if row.text("vendor").lower() == vendor.lower()]
    if not wanted:
        names = ", ".join(sorted({row.text("vendor") for row in found}))
        raise DataError(f"no vendor {vendor!r}: the catalogue has {names}")
    return wanted


def card(id: str) -> Record:
    """Return one accelerator of the catalogue.

    Raises:
        DataError: The catalogue has no such card; the message names those with a similar id.
    """
    found = {row.id: row for row in cards()}
    if id in found:
        return found[id]
    hint = near(id.lower(), list(found)) or ": `gpumoat gpus` lists the cards"
    raise DataError(f"no card {id!r}{hint}")


@dataclass(frozen=True)
class Entry:
    """One field of one card, with everything that is known of it.

    Attributes:
        field: The field.
        value: In the unit that the field's name states, or text.
        shown: As a table shows it, with its unit.
        kind: ``cited`` or ``measured``.
        record: The fact, or the run that measured it.
        what: What the fact says, in words.
        source: Where it comes from, short.
        locator: The place in the source, or the script of the run.
        status: ``verified``, ``quoted``, ``unverified`` or ``measured``.
    """

    field: Field
    value: int | float | str
    shown: str
    kind: str
    record: Record
    what: str
    source: str
    locator: str
    status: str


def entries(row: Record) -> list[Entry]:
    """Return the fields that a card has, in the order of ``GROUPS``."""
    known = registry()
    runs = row.row.get("measured")
    found = []
    for field in all_fields():
        if isinstance(runs, dict) and field.name in runs:
            found.append(_measured(field, str(runs[field.name]), known))
        elif f"{row.id}.{field.name}" in known.facts:
            found.append(_cited(field, known.facts[f"{row.id}.{field.name}"], known))
    return found


def _cited(field: Field, fact: Record, known: Registry) -> Entry:
    stated = fact.row.get("value")
    value = stated if isinstance(stated, str) else held_value(fact)[0]
    source = known.sources.get(fact.text("source"))
    short = source.text("short") if source else fact.text("source")
    shown = show(value, field)
    what, place, status = fact.text("statement"), fact.text("locator"), fact.text("status")
    return Entry(field, value, shown, "cited", fact, what, short, place, status)


def _measured(field: Field, place: str, known: Registry) -> Entry:
    run, key = place.split(".")
    record = known.measurements[run]
    results = record.row.get("results")
    result = results[key] if isinstance(results, dict) else {}
    value = hold(result["value"], str(result.get("unit", "")), key)[0]
    what, script = str(result.get("what", key)), record.text("script")
    return Entry(field, value, show(value, field), "measured", record, what, record.text("title"), script, "measured")


def scaled(value: int | float, unit: str) -> float:
    """Return a value of base units in a display unit."""
    shown = display_unit(unit)
    return value * shown.denominator / shown.numerator


def digits(value: int | float, unit: str) -> int:
    """Return how many places after the point show a value as its source states it, at most two.

    A value that would need more has been computed or converted, and is shown with one.
    """
    number = scaled(value, unit) if unit else value
    for places in (0, 1, 2):
        if abs(round(number, places) - number) <= 1e-9 * abs(number):
            return places
    return 1


def spec(value: int | float | str, unit: str) -> str:
    """Return the format of an inline number that shows a value in a unit: ``,.0f GB/s``."""
    if isinstance(value, str):
        return ""
    if not unit:
        return ",d" if isinstance(value, int) else ",g"
    return f",.{digits(value, unit)}f {unit}"


def show(value: int | float | str, field: Field) -> str:
    """Return a value as a table shows it: with its unit, and memory as GiB."""
    if isinstance(value, str):
        return value
    number = scaled(value, field.unit) if field.unit else value
    places = digits(value, field.unit)
    return f"{number:,.{places}f} {field.unit}".rstrip()


# Exports


def field_data(entry: Entry) -> dict[str, Any]:
    """Return one field as an object of the JSON export."""
    known = registry()
    data: dict[str, Any] = {"value": entry.value, "unit": name_unit(entry.field.name).text, "status": entry.status}
    if entry.kind == "measured":
        device, day = entry.record.text("device"), entry.record.text("date")
        return data | {"what": entry.what, "run": entry.record.id, "device": device, "measured": day}
    return data | _provenance(entry.record, known)


def _provenance(fact: Record, known: Registry) -> dict[str, Any]:
    source = known.sources.get(fact.text("source"))
    day = review_by(fact, known)
    data = {
        "stated": f"{fact.row.get('value')} {fact.text('unit')}".rstrip(),
        "statement": fact.text("statement"),
        "source": fact.text("source"),
        "source_title": source.text("title") if source else "",
        "url": source.text("url") if source else "",
        "locator": fact.text("locator"),
        "as_of": fact.text("as_of"),
        "checked": fact.text("checked"),
        "review_by": day.isoformat() if day else "",
        "review_rule": rule_of(fact, known).id,
        "note": fact.text("note"),
        "to_check": fact.text("to_check"),
    }
    return {name: value for name, value in data.items() if value != "" or name == "review_by"}


def card_data(row: Record) -> dict[str, Any]:
    """Return one card as an object of the JSON export."""
    fields = {entry.field.name: field_data(entry) for entry in entries(row)}
    return {"id": row.id, "name": row.text("name"), "vendor": row.text("vendor"), "fields": fields}


def to_json(rows: list[Record]) -> str:
    """Return cards as JSON: each field with its value in base units, its source, status and dates."""
    document = {"schema": SCHEMA, "cards": [card_data(row) for row in rows]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def to_csv(rows: list[Record]) -> str:
    """Return cards as CSV, one a line, in base units under the names that state them."""
    names = [field.name for field in all_fields()]
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "name", "vendor", *names], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        fields = {entry.field.name: entry.value for entry in entries(row)}
        writer.writerow({"id": row.id, "name": row.text("name"), "vendor": row.text("vendor"), **fields})
    return out.getvalue()


def facts_data() -> list[dict[str, Any]]:
    """Return every fact of the registry as a flat record, in base units and as its source states it."""
    known = registry()
    found = []
    for fact in known.facts.values():
        stated = fact.row.get("value")
        value, unit = (stated, "") if isinstance(stated, str) else (held_value(fact)[0], held_value(fact)[1].text)
        status = {"status": fact.text("status")}
        found.append({"id": fact.id, "value": value, "unit": unit, **status, **_provenance(fact, known)})
    return found


def facts_to_json() -> str:
    """Return every fact as JSON."""
    return json.dumps({"schema": SCHEMA, "facts": facts_data()}, indent=2, ensure_ascii=False) + "\n"


def facts_to_csv() -> str:
    """Return every fact as CSV."""
    rows = facts_data()
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
