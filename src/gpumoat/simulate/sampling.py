"""Sampling: what comes out when the inputs are not known but have ranges.

Draws each input from its range or from a list of observed values, runs a model, and keeps all results; quantiles and
shares of the results say what is likely and what is possible.

Promises: the same seed gives the same results on every machine and version of Python: only ``random.random`` of a
seeded generator is used, which Python's documentation promises not to change; a quantile is one of the results and
never a mean between two. Left out: inputs that depend on each other; each is drawn alone, and a page that uses this
says so. NumPy would be faster, but a page draws a few thousand times, which takes milliseconds.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

SEED = 1
"""The seed where none is given: any would do, but one is kept, so that a page says the same tomorrow."""


@dataclass(frozen=True)
class Range:
    """A value between two bounds: any as likely as another, or the likelier the nearer to a third.

    Attributes:
        low: The least value.
        high: The greatest.
        likely: The likeliest, for a triangular distribution; None for an even one.
    """

    low: float
    high: float
    likely: float | None = None

    def draw(self, rng: random.Random) -> float:
        """Return one value.

        The inverse of the distribution at an even random number u. Triangular, with c = (likely - low) / (high - low):
        low + (high - low) sqrt(u c) below, high - (high - low) sqrt((1 - u)(1 - c)) above.
        """
        if not self.low <= (self.low if self.likely is None else self.likely) <= self.high:
            raise ValueError(f"likely must lie between {self.low} and {self.high}, not {self.likely}")
        u, width = rng.random(), self.high - self.low
        if self.likely is None or width == 0:
            return self.low + width * u
        c = (self.likely - self.low) / width
        if u < c:
            return self.low + width * math.sqrt(u * c)
        return self.high - width * math.sqrt((1 - u) * (1 - c))


@dataclass(frozen=True)
class Choice:
    """One of several observed values, each as likely as another.

    Attributes:
        values: The values.
    """

    values: tuple[float, ...]

    def draw(self, rng: random.Random) -> float:
        """Return one value."""
        if not self.values:
            raise ValueError("values must hold at least one")
        return self.values[int(rng.random() * len(self.values))]


def simulate(
    model: Callable[..., T], inputs: Mapping[str, Range | Choice | float], count: int, seed: int = SEED
) -> list[T]:
    """Run a model on drawn inputs.

    Args:
        model: Called with the inputs as keyword arguments.
        inputs: For each argument a ``Range``, a ``Choice``, or a number that stays.
        count: How many times.
        seed: Start of the random numbers.

    Returns:
        The results in the order drawn.

    Raises:
        ValueError: The count is below one, or an input cannot be drawn.
    """
    if count < 1:
        raise ValueError(f"count must be one or more, not {count}")
    rng = random.Random(seed)
    results = []
    for _ in range(count):
        drawn = {}
        for name, each in inputs.items():
            drawn[name] = each.draw(rng) if isinstance(each, (Range, Choice)) else each
        results.append(model(**drawn))
    return results


def quantile(values: Iterable[float], share: float) -> float:
    """Return the smallest of the values that at least so large a share of them does not exceed (nearest rank).

    Raises:
        ValueError: There are no values, or the share is not above zero and at most one.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("values must hold at least one")
    if not 0 < share <= 1:
        raise ValueError(f"share must be above zero and at most one, not {share}")
    rank = 0
    while (rank + 1) < share * len(ordered):
        rank += 1
    return ordered[rank]


def middle(values: Iterable[float]) -> float:
    """Return the median: the value that half of them do not exceed, always one of the values.

    Raises:
        ValueError: There are no values.
    """
    return quantile(values, 1 / 2)


def share_where(values: Iterable[float], test: Callable[[float], bool]) -> float:
    """Return the share of the values for which a test holds.

    Raises:
        ValueError: There are no values.
    """
    kept = list(values)
    if not kept:
        raise ValueError("values must hold at least one")
    return sum(1 for value in kept if test(value)) / len(kept)
