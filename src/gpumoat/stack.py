"""The layers between a program and a chip: what each maker has on which, and by how many years it came later.

A layer is an object of the catalogue, ``layer("collectives")``; ``.amd`` is the name of AMD's product there and
``.amd_date`` the first release of it that was found. Where a maker has no entry, both are None: nothing was found,
which is no proof that there is nothing. Two products on one layer do one job; this says nothing of how well.

Standard library only; runs on MicroPython.
"""

from typing import Any

from gpumoat.dates import spread_years, years_between
from gpumoat.facts import DataError, registry
from gpumoat.hardware import Subject, subject

MAKERS = ("nvidia", "amd", "huawei", "cambricon", "enflame", "intel")
"""The makers of accelerators that are compared, as the fields of a layer are called."""


class Layer(Subject):
    """One layer; a maker's field is None where nothing of it was found."""

    __slots__ = ()

    def __getattr__(self, field: str) -> Any:
        maker = field[: -len("_date")] if field.endswith("_date") else field
        if maker in MAKERS and f"{self.id}.{field}" not in registry().facts:
            return None
        return Subject.__getattr__(self, field)


def layer(id: str) -> Layer:
    """Return a layer, such as ``layer("collectives")``.

    Raises:
        DataError: There is no such layer.
    """
    found = subject("layer", "layer-" + id)
    return Layer(found.id, found.name)


def _check_maker(maker: str) -> None:
    if maker not in MAKERS:
        raise DataError(f"no maker {maker!r}: use one of {', '.join(MAKERS)}")


def covered(layers: tuple[str, ...], maker: str) -> int:
    """Return on how many of some layers a maker has a product.

    Raises:
        DataError: There is no such layer or maker.
    """
    _check_maker(maker)
    return len([id for id in layers if getattr(layer(id), maker) is not None])


def lead_years(id: str, maker: str) -> float | None:
    """Return by how many years NVIDIA's product on a layer came out before another maker's.

    The distance of the two first releases, from ``gpumoat.dates.years_between``; None where one of them is unknown.

    Raises:
        DataError: There is no such layer or maker.
    """
    _check_maker(maker)
    first, second = layer(id).nvidia_date, getattr(layer(id), maker + "_date")
    return None if first is None or second is None else years_between(first, second)


def lead_spread_years(id: str, maker: str) -> float | None:
    """Return by how much ``lead_years`` may be off either way, where a source gives no day.

    Raises:
        DataError: There is no such layer or maker.
    """
    _check_maker(maker)
    first, second = layer(id).nvidia_date, getattr(layer(id), maker + "_date")
    return None if first is None or second is None else spread_years(first, second)


def ported(program: tuple[str, ...], old: str, new: str, *imports: str) -> tuple[str, ...]:
    """Return a PyTorch program for another maker's card: its name replaced, and imports after the first line.

    Args:
        program: The lines of the program; the first one imports PyTorch.
        old: What the program calls the card, such as ``cuda``.
        new: What the other maker's card is called.
        imports: The lines that the other maker asks for.
    """
    lines = tuple([line.replace(f'"{old}"', f'"{new}"') for line in program])
    return lines[:1] + imports + lines[1:]


def changed_lines(before: tuple[str, ...], after: tuple[str, ...]) -> int:
    """Return how many lines of the second program are no lines of the first: the lines to change or to add."""
    known = list(before)
    changed = 0
    for line in after:
        if line in known:
            known.remove(line)
        else:
            changed += 1
    return changed
