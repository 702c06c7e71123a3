"""What an object reaches: the promise of a sealed class, kept by the report of a simulated launch."""

from __future__ import annotations

import pytest

from gpumoat import simt
from gpumoat.site.execute import run_example
from gpumoat.site.reach import LIMIT, reach


class Sealed:
    """Holds more than a search looks at, and promises that it does not change."""

    sealed = True

    def __init__(self) -> None:
        """Hold many lists."""
        self.many = [[number] for number in range(LIMIT + 1)]


class Open(Sealed):
    """Inherits everything but the promise, which each class makes for itself."""

    sealed = False


class Silent(Sealed):
    """Says nothing, and so promises nothing: a subclass may add what changes."""


def test_a_sealed_object_is_not_walked() -> None:
    found = reach(Sealed(), "example.py")
    assert not found.whole
    assert not found.ids


@pytest.mark.parametrize("kind", [Open, Silent])
def test_without_the_promise_the_search_stops_at_its_limit(kind: type[Sealed]) -> None:
    assert reach(kind(), "example.py").whole


def test_what_stands_beside_a_sealed_object_is_still_seen() -> None:
    changeable: list[int] = []
    assert id(changeable) in reach([Sealed(), changeable], "example.py").ids


SCRIPT = '''
from gpumoat import assume, simt

width = assume(4, "a width")
other = assume(5, "another number")


def launch():
    """Add nothing up, many times."""
    values = simt.array((6_000,), "float32", range(6_000))
    return simt.trace("gpumoat.kernels.reduction:shared_sum", 1, 256)(values, simt.array((1,), "float32"))


report = launch()
requests = report.requests("x", "load").requests
double = 2 * other
'''


def test_a_report_tangles_nothing(tmp_path) -> None:
    """A launch with more accesses than a search looks at: what follows it rests on what it uses, and on no more."""
    path = tmp_path / "example.py"
    path.write_text(SCRIPT.lstrip())
    example = run_example(path)
    assert len(example.namespace["report"].record) > LIMIT
    statements = {name: made for name, made in example.made.items() if name in ("other", "double", "report")}
    assert all(len(made) == 1 for made in statements.values())  # no later statement counts as a change of them
    (double,) = statements["double"]
    assert example.statements[double].needs == set(statements["other"])


def test_the_answers_of_a_report_never_change() -> None:
    """What the promise of ``Report`` means: asking twice, and asking for something else between, gives the same."""
    values, sums = simt.array((500,), "float32", range(500)), simt.array((1,), "float32")
    report = simt.trace("gpumoat.kernels.reduction_bugs:missing_barrier", 1, 64)(values, sums)
    before = report.summary(), str(report.data_races()), len(report.record)
    values.fill([0] * 500)
    report.touches("shared"), report.findings(), report.foreign_reads("x", "out")
    report.data_races().clear()
    assert before == (report.summary(), str(report.data_races()), len(report.record))
