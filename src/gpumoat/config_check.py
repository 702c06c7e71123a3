"""Judges the catalogue of model configs: everything that can be wrong with a file of ``data/configs``.

Promises: one call lists every problem of a folder of configs, each with its file, id, field and what would be right;
a broken file is a problem, never a traceback. Each rule has a test with a planted fault. Beside the form of an entry,
it holds a config against itself: what lists one item a layer lists as many as there are layers.

Left out: whether a config says what its source says. A person reads that; ``status``, ``locator`` and the source's
``copy`` record that it was done. Left out too is what the numbers come to: that is the reader's, ``gpumoat.llm``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

SCHEMA = 1
FOLDER = "configs"
STATUSES = ("verified", "quoted", "unverified")

Fault = tuple[str, str, str, str]
"""File from the data folder, id, field, and what is wrong and what would be right."""

TEXTS = ("id", "name", "publisher", "released", "source", "locator", "status", "checked")
OPTIONAL = ("to_check", "note")
FIELDS = ("schema", *TEXTS, "config", "parameters", *OPTIONAL)
PARAMETERS = ("total", "active", "says", "exact")

NO_STRUCTURE = re.compile(
    r"_token_ids?$|_token_index$|dropout|pdrop$|initializer|^init_|^_name_or_path$|^auto_map$|^transformers_version$"
    r"|^(id2label|label2id|use_cache|tokenizer_class|task_specific_params|tokenizer_name)$"
)
"""Fields of a published file that say nothing of the structure, and are left out."""

COUNTS = re.compile(
    r"^(vocab_size|hidden_size|d_model|n_embd|n_embed|n_layers?|n_heads?|num_layers|num_hidden_layers"
    r"|num_attention_heads|num_key_value_heads|num_heads|head_dim|intermediate_size|moe_intermediate_size|d_ff|d_kv)$"
)
"""Fields that count something of which there is at least one, where they have a value at all."""

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
A_LAYER = ("layer_types", "block_configs", "hybrid_override_pattern")
"""Fields with one item, or one letter, for each layer."""


@dataclass
class Configs:
    """The entries of a folder that could be read, by file, and the problems found on the way."""

    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def sources(self, status: str = "") -> set[str]:
        """Return the ids of the sources that entries rest on, or those of entries with one status."""
        rows = [row for row in self.entries.values() if not status or row.get("status") == status]
        return {row["source"] for row in rows if isinstance(row.get("source"), str)}


def read_configs(folder: Path) -> Configs:
    """Read the entries below a data folder; without a folder of configs there are none."""
    found = Configs()
    for path in sorted((folder / FOLDER).glob("*")):
        short = f"{FOLDER}/{path.name}"
        if path.suffix != ".json":
            found.faults.append((short, "", "", "is no entry: name it <id>.json, or take it out"))
            continue
        try:
            row = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
        except UnicodeDecodeError as error:
            found.faults.append((short, "", "", f"byte {error.start} is no UTF-8: save the file as UTF-8"))
        except json.JSONDecodeError as error:
            found.faults.append((short, "", "", f"line {error.lineno}: {error.msg}; no valid JSON"))
        except (ValueError, RecursionError) as error:
            found.faults.append((short, "", "", f"{error}" if isinstance(error, ValueError) else "is nested too deep"))
        else:
            if isinstance(row, dict):
                found.entries[short] = row
            else:
                found.faults.append((short, "", "", "the file must hold one object in braces"))
    return found


def check_configs(configs: Configs, copies: Mapping[str, str], today: date | None = None) -> list[Fault]:
    """List every problem of the entries.

    Args:
        configs: What ``read_configs`` found.
        copies: The ids of the sources, each with its ``copy``, empty where the source has none.
        today: If given, a date after it is a problem.
    """
    faults = list(configs.faults)
    names: dict[str, str] = {}
    for file, row in configs.entries.items():
        id = row["id"] if isinstance(row.get("id"), str) else "(no id)"

        def note(problems: Iterable[tuple[str, str]], file: str = file, id: str = id) -> None:
            faults.extend((file, f"config {id}", name, message) for name, message in problems)

        note(_form(row))
        note(_identity(row, Path(file).stem, names))
        note(_dates(row, today))
        note(_evidence(row, copies))
        if isinstance(row.get("parameters"), dict):
            note(_parameters(row["parameters"]))
        config = row.get("config")
        if isinstance(config, dict) and config:
            note(_structure(config, "config"))
            if not config.get("model_type") and not config.get("architectures") and not row.get("note"):
                note(
                    [("config", "has neither model_type nor architectures: add what the file says, or say why in note")]
                )
        if isinstance(row.get("name"), str):
            names.setdefault(row["name"], file)
    return faults


# Reading


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"gives {name!r} twice in one object: keep one")
        found[name] = value
    return found


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON: write null where the file has no value")


# The entry


def _form(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if row.get("schema") != SCHEMA or isinstance(row.get("schema"), bool):
        yield "schema", f'{row.get("schema")!r} is not the version that this program reads: use "schema": {SCHEMA}'
    for name in row:
        if name not in FIELDS:
            yield name, f"unknown field: use {', '.join(FIELDS)}"
    for name in (*TEXTS, *OPTIONAL):
        value = row.get(name)
        if value is None and name in OPTIONAL and name not in row:
            continue
        if not isinstance(value, str):
            yield name, f"{_said(value)}: it must be text" if name in row else "missing: it must be text"
        elif not value.strip():
            yield name, "is empty: it must be text"
    if not isinstance(row.get("config"), dict) or not row["config"]:
        yield "config", "must be an object with the fields of the published file"
    if not isinstance(row.get("parameters"), dict):
        yield "parameters", f"must be an object with {', '.join(PARAMETERS)}"


def _identity(row: Mapping[str, Any], stem: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    id, name = row.get("id"), row.get("name")
    if isinstance(id, str) and id and id != stem:
        yield "id", f"{id!r} is not the name of the file: use {stem!r}, or rename the file"
    elif isinstance(id, str) and id and not re.fullmatch(r"[a-z0-9]+([-.][a-z0-9]+)*", id):
        yield "id", f"{id!r} is not of the form 'llama-3.1-8b': small letters, digits, hyphens, points"
    if isinstance(name, str) and name in names:
        yield "name", f"{name!r} is the name of {names[name]} too: say what is different"


def _dates(row: Mapping[str, Any], today: date | None) -> Iterator[tuple[str, str]]:
    days: dict[str, date] = {}
    for name, whole in (("released", False), ("checked", True)):
        text = row.get(name)
        if not isinstance(text, str) or not text.strip():
            continue
        if not re.fullmatch(r"\d{4}-\d\d-\d\d" if whole else r"\d{4}(-\d\d(-\d\d)?)?", text):
            yield name, f"{text!r} is no date: write {'2026-11-30' if whole else '2026-11-30, 2026-11 or 2026'}"
            continue
        try:
            days[name] = date.fromisoformat(text + "-01-01"[len(text) - 4 :] if len(text) < 10 else text)
        except ValueError:
            yield name, f"{text!r} is no day of the calendar"
    if len(days) == 2 and days["released"] > days["checked"]:
        yield "checked", f"{row['checked']} lies before the model was released, {row['released']}"
    if today and "checked" in days and days["checked"] > today:
        yield "checked", f"{row['checked']} lies after today, {today.isoformat()}"


def _evidence(row: Mapping[str, Any], copies: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    status, source = row.get("status"), row.get("source")
    if isinstance(status, str) and status.strip() and status not in STATUSES:
        yield "status", f"{status!r} is unknown: use one of {', '.join(STATUSES)}"
    if status == "unverified" and not row.get("to_check"):
        yield "to_check", "missing: name the document that would settle it"
    if status in ("verified", "quoted") and "to_check" in row:
        yield "to_check", f"goes with unverified: this entry is {status}"
    if not isinstance(source, str) or not source.strip():
        return
    if source not in copies:
        yield "source", f"no source {source!r}: add it to sources/<topic>.toml, or use one that is there"
    elif status == "verified" and not copies[source].strip():
        yield "source", f"{source!r} has no copy: an entry rests on it as verified, so say there which text was read"


# What the publisher says of the parameters


def _parameters(said: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in said:
        if name not in PARAMETERS:
            yield f"parameters.{name}", f"unknown field: use {', '.join(PARAMETERS)}"
    for name in PARAMETERS:
        if name not in said:
            yield f"parameters.{name}", "missing: write null where the publisher says nothing"
    numbers: dict[str, int] = {}
    for name in ("total", "active"):
        value = said.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            numbers[name] = value
        elif value is not None:
            yield f"parameters.{name}", f"{_said(value)}: it must be a count, such as 8030261248, or null"
    if len(numbers) == 2 and numbers["active"] > numbers["total"]:
        yield "parameters.active", f"{numbers['active']:,} is more than the total, {numbers['total']:,}"
    says, exact = said.get("says", ""), said.get("exact", False)
    if not isinstance(says, str):
        yield "parameters.says", f"{_said(says)}: it must be text"
    elif numbers and not says.strip():
        yield "parameters.says", "is empty: say who states the number, and how"
    if not isinstance(exact, bool):
        yield "parameters.exact", f"{_said(exact)}: it must be true or false"
    elif exact and "total" not in numbers:
        yield "parameters.exact", "is true without a total: give the count, or write false"
    elif exact and numbers["total"] % 10**6 == 0:
        yield "parameters.exact", f"{numbers['total']:,} is rounded: write false"


# The config against itself


def _structure(part: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
    for name, value in part.items():
        here = f"{at}.{name}"
        if NO_STRUCTURE.search(name):
            yield here, "says nothing of the structure: leave it out"
        if COUNTS.search(name) and value is not None and not (type(value) is int and value > 0):
            yield here, f"{_said(value)}: it must be a whole number above zero, as in the published file"
        if isinstance(value, dict):
            yield from _structure(value, here)
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict):
                yield from _structure(item, f"{here}[{index}]")
    layers = next((part[name] for name in LAYERS if type(part.get(name)) is int), None)
    for name in A_LAYER:
        listed = part.get(name)
        if layers is not None and isinstance(listed, (list, str)) and len(listed) != layers:
            yield f"{at}.{name}", f"has {len(listed)} items for {layers} layers: copy the whole list"


def _said(value: object) -> str:
    return f"is {type(value).__name__} {value!s:.40}"
