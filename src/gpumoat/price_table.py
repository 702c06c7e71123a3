"""The file of rental prices, ``data/prices.csv``: one line a price, made into facts when it is read.

A price is a fact like any other: it has a source, a place in it, a day and a status, and its card on a page shows them.
It has a file of its own because there are many, and because a line of a table is quicker to add than a paragraph.

A line holds the price **as the page prints it** and the number of cards that this price covers; the division is done
here. The commonest error in tables of prices is a server's price taken for a card's, or a card's divided once more.

Promises: ``read_prices`` names file, line and column of what is wrong; ids are made from the line, so that two lines
for one offer on one day cannot both stand. Left out: currencies other than the US dollar, and taxes.

Standard library only. Runs where the data files are read, not in the browser, which gets the facts ready made.
"""

import csv
import io
import re

COLUMNS = (
    "date",
    "card",
    "provider",
    "tier",
    "commitment",
    "region",
    "price_usd",
    "cards",
    "source",
    "locator",
    "checked",
    "status",
    "note",
)
MAY_BE_EMPTY = ("region", "note")
TIERS = ("hyperscaler", "specialist", "marketplace")
COMMITMENTS = (
    "on-demand",
    "spot",
    "reserved-3m",
    "reserved-6m",
    "reserved-1y",
    "reserved-2y",
    "reserved-3y",
)

_WORDS = {"sxm": "SXM", "pcie": "PCIe", "nvl": "NVL", "rtx": "RTX"}


class PriceError(ValueError):
    """A line of the file that cannot be used; the message names line and column and says what would be right."""


def card_name(card: str) -> str:
    """Return how people call a card of the file, such as ``A100 SXM 80 GB`` for ``a100-sxm-80``."""
    words: list[str] = []
    for word in card.split("-"):
        memory = word.isdigit() and words and words[-1] in ("SXM", "PCIe")
        words.append(f"{word} GB" if memory else _WORDS.get(word, word.upper()))
    return " ".join(words)


def read_prices(text: str) -> list[dict[str, str]]:
    """Read the lines of the file.

    Args:
        text: The file's text, the names of the columns in its first line.

    Raises:
        PriceError: The header is not ``COLUMNS``, or a line has too few or too many fields, an empty field, an unknown
            tier or commitment, or a price or number of cards that is no number above zero.
    """
    rows = csv.reader(io.StringIO(text))
    header = next(rows, [])
    if tuple(header) != COLUMNS:
        raise PriceError(f"line 1: the columns must be {','.join(COLUMNS)}")
    found = []
    for fields in rows:
        at = f"line {rows.line_num}"
        if len(fields) != len(COLUMNS):
            raise PriceError(f"{at}: has {len(fields)} fields, not {len(COLUMNS)}: put a field with a comma in quotes")
        row = dict(zip(COLUMNS, fields))  # noqa: B905 - the lengths were just compared
        for name in COLUMNS:
            if not row[name].strip() and name not in MAY_BE_EMPTY:
                raise PriceError(f"{at}: {name}: is empty")
        for name, words in (("tier", TIERS), ("commitment", COMMITMENTS)):
            if row[name] not in words:
                raise PriceError(f"{at}: {name}: {row[name]!r} is unknown: use one of {', '.join(words)}")
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row["card"]):
            raise PriceError(f"{at}: card: {row['card']!r} is no id of a card: use one such as h100-sxm")
        if not re.fullmatch(r"\d+(\.\d+)?", row["price_usd"]) or float(row["price_usd"]) == 0:
            raise PriceError(f"{at}: price_usd: {row['price_usd']!r} is no price: write dollars an hour, such as 31.92")
        if not re.fullmatch(r"[1-9]\d*", row["cards"]):
            raise PriceError(f"{at}: cards: {row['cards']!r} is no number of cards: write how many the price covers")
        found.append(row)
    return found


def price_id(row: dict[str, str]) -> str:
    """Return the id of a line: card, provider, commitment, cards, region and day."""
    provider = re.sub(r"[^a-z0-9]+", "-", row["provider"].lower()).strip("-")
    parts = ["price", row["card"], provider, row["commitment"], row["cards"] + "x", row["region"], row["date"]]
    return "-".join(part for part in parts if part)


def as_subject(row: dict[str, str]) -> dict[str, object]:
    """Return the catalogue's entry for a line: what was offered, by whom, on what terms."""
    name = f"{row['provider']}, {card_name(row['card'])}, {row['commitment']}, {row['date']}"
    kept = {key: row[key] for key in ("card", "provider", "tier", "commitment", "region", "date")}
    return {"id": price_id(row), "kind": "price", "name": name, "cards": int(row["cards"]), **kept}


def as_fact(row: dict[str, str]) -> dict[str, object]:
    """Return the fact of a line: the price of one card for one hour, in US dollars."""
    cards, name = int(row["cards"]), card_name(row["card"])
    what = f"one {name}" if cards == 1 else f"a server with {cards} {name}"
    where = f" in {row['region']}" if row["region"] else ""
    each = "" if cards == 1 else ", so a card's hour costs the share shown"
    fact: dict[str, object] = {
        "id": price_id(row) + ".usd_per_hour",
        "statement": f"{row['provider']} asked {row['price_usd']} US dollars an hour for {what}, "
        f"{row['commitment']}{where}{each}.",
        "value": float(row["price_usd"]) / cards,
        "unit": "USD/h",
        "as_of": row["date"],
        "source": row["source"],
        "locator": row["locator"],
        "status": row["status"],
        "checked": row["checked"],
    }
    if row["note"]:
        fact["note"] = row["note"]
        if row["status"] == "unverified":
            fact["to_check"] = row["note"]
    return fact
