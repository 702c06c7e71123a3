"""A term of a report: so many bytes, by which formula, from which source, and how sure.

Nothing in a report is a factor without a cause: each term can be struck out, opened and checked, and the sum of the
terms is the report to the byte.

Promises: whole bytes, and ``low <= size_bytes <= high``. Left out: how the terms come about, which the modules that
make them say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpumoat.llm.tensors import Tensor

EXACT = "by definition"


@dataclass(frozen=True)
class Term:
    """One thing that takes memory.

    Attributes:
        name: What it is.
        group: What it counts towards: ``weights``, ``kv``, ``state``, ``activations`` or ``overhead``.
        size_bytes: How many bytes it takes.
        formula: How they are counted, in letters.
        numbers: The same with the numbers.
        source: Where the formula or the measurement comes from.
        low: The least that the evidence leaves open.
        high: The most.
        evidence: What the interval rests on.
    """

    name: str
    group: str
    size_bytes: int
    formula: str
    numbers: str
    source: str
    low: int
    high: int
    evidence: str


def exact(name: str, group: str, size_bytes: int, formula: str, numbers: str, source: str = EXACT) -> Term:
    """Return a term that leaves nothing open."""
    return Term(name, group, size_bytes, formula, numbers, source, size_bytes, size_bytes, "exact")


def total(terms: Sequence[Term]) -> int:
    """Return the sum of the terms' bytes."""
    found = 0
    for term in terms:
        found += term.size_bytes
    return found


def sum_formula(groups: Sequence[tuple[int, Sequence[Tensor]]], active: bool = False) -> tuple[str, str]:
    """Return the parameters of tensors as one formula, in letters and in numbers.

    Args:
        groups: Tensors with how often they occur, such as those of a layer with the layers.
        active: Whether only what one token uses is counted.
    """
    letters: list[str] = []
    numbers: list[str] = []
    for count, tensors in groups:
        if not tensors or not count:
            continue
        inside = [one.active_formula if active else one.formula for one in tensors]
        values = [one.active_numbers if active else one.numbers for one in tensors]
        letters.append(_times(count, _joined(inside)))
        numbers.append(_times(count, _joined(values)))
    return " + ".join(letters) or "0", " + ".join(numbers) or "0"


def _joined(formulas: list[str]) -> list[str]:
    """Return formulas with those that occur more than once as a product."""
    order: list[str] = []
    often: dict[str, int] = {}
    for formula in formulas:
        if formula not in often:
            order.append(formula)
        often[formula] = often.get(formula, 0) + 1
    return [formula if often[formula] == 1 else f"{often[formula]} × {formula}" for formula in order]


def _times(count: int, formulas: list[str]) -> str:
    if count == 1:
        return " + ".join(formulas)
    inside = formulas[0] if len(formulas) == 1 else "(" + " + ".join(formulas) + ")"
    return f"{count:,} × {inside}"
