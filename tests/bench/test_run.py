"""What the measurements share, as far as it needs no card: counting lines, and errors that never pass for numbers."""

from __future__ import annotations

import pytest

from gpumoat.bench.run import code_lines, relative_error


def documented(x):
    """A first line.

    And more of it, over
    three lines.
    """
    # A comment counts for nothing.

    y = x + 1  # a comment behind code does not take the line away
    text = """a text that is no docstring
    counts"""
    return y, text


def nested():
    """Outer."""

    def inner():
        """Inner."""
        return 1

    return inner


def one_line(): return 1  # fmt: skip


class Compiled:
    """Stands for a compiled kernel."""

    py_func = staticmethod(one_line)


def test_lines_of_code() -> None:
    assert code_lines(documented) == 5  # def, y, two of text, return
    assert code_lines(nested) == 4  # def, def, return, return
    assert code_lines(one_line) == 1
    assert code_lines(Compiled) == 1
    assert code_lines(documented, nested) == 9


class Tensor:
    """As much of a tensor as the error needs."""

    def __init__(self, *values: float) -> None:
        self.values = values

    def double(self):
        return self

    def __sub__(self, other):
        return Tensor(*(a - b for a, b in zip(self.values, other.values, strict=True)))

    def norm(self):
        return Norm(sum(value * value for value in self.values) ** 0.5)


class Norm(float):
    """A norm; by zero it divides as tensors do."""

    def __truediv__(self, other):
        return float("inf") if other == 0 else float(self) / float(other)


def test_relative_error() -> None:
    assert relative_error(Tensor(3.0, 4.0), Tensor(3.0, 4.0)) == 0
    assert relative_error(Tensor(3.0, 4.5), Tensor(3.0, 4.0)) == pytest.approx(0.1)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_what_is_no_number_never_passes(wrong) -> None:
    with pytest.raises(ArithmeticError, match="the result is no number"):
        relative_error(Tensor(wrong, 4.0), Tensor(3.0, 4.0))
