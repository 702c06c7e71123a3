"""``gpumoat gpus``: the accelerator catalogue as a table, or all that is known of one card.

Bad input is one line and exit code 2. ``--json`` prints the same data as the published files.
"""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpumoat import catalogue
from gpumoat.catalogue import Entry
from gpumoat.facts import Record

SHOWN = ("memory_bytes", "memory_bandwidth_bytes_per_s", "bf16_dense_flop_per_s", "bf16_sparse_flop_per_s")
"""What the list shows of each card besides its form, FP8 and power."""

DOUBT = {"unverified": "?", "quoted": "", "verified": "", "measured": ""}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(gpus)


def gpus(
    card: Annotated[str, typer.Argument(help="One card, such as h100-sxm; all where it is left out.")] = "",
    vendor: Annotated[str, typer.Option(help="Only the cards of one vendor, such as AMD.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the data with every source as JSON.")] = False,
) -> None:
    """List the accelerators of the catalogue, or every field of one with its source."""
    console = Console(soft_wrap=False)
    rows = [catalogue.card(card)] if card else catalogue.cards(vendor)
    if as_json:
        typer.echo(catalogue.to_json(rows), nl=False)
    elif card:
        console.print(one(rows[0]))
    else:
        console.print(many(rows))


def many(rows: list[Record]) -> Table:
    """Return the list of cards."""
    caption = (
        "Memory is what the label counts, in GiB. Rates are peaks in TFLOP/s: dense means every value counts, sparse "
        "that two of four are left out. ? was not read at its source. `gpumoat gpus CARD` shows every field of a card."
    )
    table = Table(caption=caption, caption_justify="left")
    heads = ("Card", "Name", "Form", "GiB", "GB/s", "BF16 dense", "BF16 sparse", "FP8 dense", "W")
    for head in heads:
        table.add_column(head, justify="left" if head in ("Card", "Name", "Form") else "right")
    for row in rows:
        found = {entry.field.name: entry for entry in catalogue.entries(row)}
        form = found["form_factor"].shown.split(",")[0] if "form_factor" in found else ""
        numbers = (*SHOWN, "fp8_dense_flop_per_s", "tdp_w")
        table.add_row(row.id, row.text("name"), form, *(_bare(found.get(name)) for name in numbers))
    return table


def _bare(entry: Entry | None) -> str:
    """Return a value without its unit, which the heading says, and with a mark where nobody has read its source."""
    if entry is None:
        return "–"
    return entry.shown.removesuffix(f" {entry.field.unit}") + DOUBT.get(entry.status, "")


def one(row: Record) -> Table:
    """Return every field of a card with its source."""
    caption = (
        "Verified: read in the vendor's own document, or printed by a machine. Quoted: read in a document that "
        "reports it. Unverified: not read at its source. Each source stands in the bibliography of the site."
    )
    table = Table(title=f"{row.text('name')} ({row.id})", title_justify="left", caption=caption, caption_justify="left")
    table.add_column("Field")
    table.add_column("Value", justify="right")
    table.add_column("Status")
    table.add_column("Source", overflow="fold")
    entries = {entry.field.name: entry for entry in catalogue.entries(row)}
    for group, fields in catalogue.GROUPS.items():
        have = [entries[field.name] for field in fields if field.name in entries]
        if have:
            table.add_row(Text(group, style="bold"))
        for entry in have:
            where = f"{entry.source}, {entry.locator}"
            note = entry.record.text("note")
            table.add_row(Text(f"  {entry.field.title}"), Text(value(entry)), entry.status, Text(where))
            if note:
                table.add_row("", "", "", Text(note, style="italic"))
    return table


def value(entry: Entry) -> str:
    """Return a value with its unit; memory both as GiB and as GB, which differ by seven per cent."""
    if entry.field.unit == "GiB" and not isinstance(entry.value, str):
        places = catalogue.digits(entry.value, "GB")
        return f"{entry.shown} = {catalogue.scaled(entry.value, 'GB'):,.{places}f} GB"
    return entry.shown
