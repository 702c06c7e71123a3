"""What a question to ``gpumoat`` gets back: one table that explains itself, or the same as JSON.

Promises: the table and the JSON hold the same values; every row says how it comes about; JSON is in SI units with
the unit in the name, as everywhere in the package. Bad input is one line on standard error and exit status 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from gpumoat.facts import DataError
from gpumoat.units import UnitError, format_value

Json = Annotated[bool, typer.Option("--json", help="Print the values as JSON, in SI units.")]


@dataclass
class Row:
    """One value of an answer.

    Attributes:
        name: Its name in the JSON, with the unit as its suffix.
        label: What it is, for the table.
        value: The value in the unit of its name; text and truth values stand as they are.
        spec: How the table shows it, such as ``.1f nm``.
        how: How it comes about, in a few words.
    """

    name: str
    label: str
    value: int | float | str | bool | None
    spec: str
    how: str


@dataclass
class Answer:
    """A title, the rows, and what the reader should know beside them."""

    title: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, label: str, value: int | float | str | bool | None, spec: str, how: str) -> None:
        """Add a row; see ``Row``."""
        self.rows.append(Row(name, label, value, spec, how))

    def show(self, as_json: bool) -> None:
        """Print the answer on standard output."""
        if as_json:
            print(json.dumps({row.name: row.value for row in self.rows}, indent=2, ensure_ascii=False))
            return
        out = Console()
        table = Table(title=self.title, title_justify="left", title_style="bold", show_header=False)
        table.add_column("what")
        table.add_column("value", justify="right", style="bold", no_wrap=True)
        table.add_column("how", style="dim")
        for row in self.rows:
            table.add_row(row.label, shown(row), row.how)
        out.print(table, highlight=False)
        for note in self.notes:
            out.print(note, markup=False, highlight=False)


def shown(row: Row) -> str:
    """Return a row's value as the table has it."""
    if row.value is None:
        return "none"
    if isinstance(row.value, bool):
        return "yes" if row.value else "no"
    unit = row.spec.partition(" ")[2]
    for spec in (row.spec, *(f",.{digits}g {unit}".rstrip() for digits in (6, 7, 8))):
        try:
            return format_value(row.value, spec, row.name)
        except UnitError as error:  # on the edge between two roundings: more digits take it off
            if "on the edge" not in str(error):
                raise
    return format_value(row.value, "", row.name)


def refuse(text: str) -> NoReturn:
    """Say in one line what is wrong with the input, and end with exit status 2."""
    Console(stderr=True, soft_wrap=True).print(f"error: {text}", markup=False, highlight=False)
    raise typer.Exit(2) from None


@contextmanager
def bad_input(options: dict[str, str]) -> Iterator[None]:
    """Turn what a model refuses into one line that names the option, and exit status 2.

    Args:
        options: The option that each argument of the model came from, such as ``{"edge_m": "--edge-mm"}``.
    """
    try:
        yield
    except DataError:
        raise
    except ValueError as error:
        text = str(error)
        for name, option in options.items():
            if text.startswith(name + " "):
                text = option + text[len(name) :]
                break
        refuse(text)
