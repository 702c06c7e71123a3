"""How many cards hold so many bytes.

What is usable of a card's memory is the caller's to say, such as its memory times a share that is left after
the driver and the framework took theirs. Promises: the smallest number of cards, exact for whole numbers.
Left out: whether a model can be cut into pieces that fill the cards evenly; the answer is a lower bound.
"""

from __future__ import annotations


def cards_needed(total_bytes: float, usable_bytes_per_card: float) -> int:
    """Return the smallest c with ``total_bytes <= c * usable_bytes_per_card``.

    For floats the product is rounded as Python rounds it: three times what a card holds fits on three cards,
    whatever the quotient rounds to. Both arguments may carry a unit, as long as it is the same.

    Raises:
        ValueError: An argument is not above zero, or not finite.
    """
    _positive("total_bytes", total_bytes)
    _positive("usable_bytes_per_card", usable_bytes_per_card)
    cards = int(-(-total_bytes // usable_bytes_per_card))
    if cards > 1 and total_bytes <= (cards - 1) * usable_bytes_per_card:
        return cards - 1
    if cards * usable_bytes_per_card < total_bytes:
        return cards + 1
    return cards


def used_share(total_bytes: float, usable_bytes_per_card: float) -> float:
    """Return what share of the usable memory of `cards_needed` cards is filled: above 0 and at most 1."""
    return total_bytes / (cards_needed(total_bytes, usable_bytes_per_card) * usable_bytes_per_card)


def _positive(field: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"{field} must be above zero, not {value}")
    if value - value != 0:  # infinity; a value with a unit passes through this too
        raise ValueError(f"{field} must be finite, not {value}")
