"""The claims in the prose of compute/cuda that a number supports, each with its sentence."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest

from gpumoat import simt
from gpumoat.facts import registry

PAGE = Path(__file__).parents[2] / "docs" / "en" / "compute" / "cuda.md"


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("compute/cuda")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


def shown() -> list[str]:
    """The pieces of code that the page shows."""
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_kernel_on_the_page_is_the_kernel_of_the_file(chapter) -> None:
    assert chapter.says("And as a kernel, from the file that also ran on our card:")
    source = (files("gpumoat") / "kernels" / "image.py").read_text(encoding="utf-8")
    (kernel,) = [
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "grid_stride"
    ]
    _docstring, body = kernel.body
    assert ast.dump(ast.parse(shown()[1])) == ast.dump(ast.Module([body], []))


def test_the_loop_on_the_page_is_the_loop_of_the_example(chapter) -> None:
    assert chapter.says("In plain Python:")
    example = (PAGE.parents[2] / "examples" / "compute" / "cuda.py").read_text(encoding="utf-8")
    loop = next(
        node for node in ast.walk(ast.parse(example)) if isinstance(node, ast.FunctionDef) and node.name == "loop"
    )
    assert ast.dump(ast.parse(shown()[0])) == ast.dump(ast.Module([loop.body[2]], []))


def test_only_the_first_line_differs_but_for_types(chapter) -> None:
    assert chapter.says("The second line is the same but for the names of number types")
    first, second = (code.splitlines() for code in shown()[:2])
    assert re.sub(r"\bint(16|32)\(([^()]*)\)", r"\2", re.sub(r"int32\((.*?)\)", r"\1", second[1])) == first[1]
    assert first[0] != second[0]


def test_one_thread_is_the_loop(chapter, n) -> None:
    assert chapter.says("Started with one thread, the kernel on this page is the very loop that a CPU would run")
    on_card = simt.array((n.pixels_count + 1,), "uint8", n.picture)
    results = simt.array((n.pixels_count,), "int16", [0] * n.pixels_count)
    report = simt.trace(n.kernel, 1, 1)(on_card, results)
    record = report.record
    number = next(array.number for array in record.arrays if array.name == "differences")
    order = [record.index[row] for row in range(len(record.index)) if record.array[row] == number]
    assert order == list(range(n.pixels_count))


def test_four_launches_equal_to_the_last_result(chapter, n) -> None:
    assert chapter.says("The same kernel, started in four ways")
    assert chapter.says("In each the simulator also found every result written exactly once.")
    assert len(n.launches) == 4
    assert n.expected == [n.picture[i] - n.picture[i + 1] for i in range(n.pixels_count)]
    for row in n.launches:
        assert row["equal"] == n.pixels_count == 997
        assert row["once"]
    # By hand: 997 pixels over 1, 32, 256 and 1,024 threads.
    assert [(row["most_pixels"], row["idle_threads"]) for row in n.launches] == [(997, 0), (32, 0), (4, 0), (1, 27)]


def test_any_order(chapter, n) -> None:
    assert chapter.says("forwards, backwards and shuffled, and got the same results in all of them")
    assert n.orders_equal == [True, True, True]


def test_the_comparison_can_fail(n) -> None:
    """A kernel that is wrong on purpose: strips one pixel too far apart."""
    on_card = simt.array((n.pixels_count + 1,), "uint8", n.picture)
    results = simt.array((n.pixels_count,), "int16", [0] * n.pixels_count)
    simt.run("gpumoat.kernels.image:strip", 1, 4)(on_card, results, 251, 250)
    assert list(results.flat) != n.expected


def test_neighbours_work_on_neighbours(chapter, n) -> None:
    assert chapter.says("so that neighbours always work on neighbours")
    for touch in n.touches:
        assert touch["worker"] == touch["first"] % n.stride


def test_the_steps_are_those_that_ran_on_the_card(chapter) -> None:
    assert chapter.says("copies the picture to the card, starts the kernel, and copies the results back")
    script = (files("gpumoat") / "bench" / "same.py").read_text(encoding="utf-8")
    calls = ("to_device(", "", "[blocks, threads](on_card, results", "copy_to_host()")
    for line, call in zip(shown()[2].splitlines(), calls, strict=True):
        assert call in line
        assert call in script


def test_card_and_simulator(chapter, n) -> None:
    assert chapter.says("… were equal on the card, in the simulator and in the loop in plain Python")
    assert n.card_equal == n.card_results == 997 * n.card_launches


def test_first_cores_and_todays(chapter, n) -> None:
    assert chapter.says("which is … as many. A grid of many blocks fills both")
    assert n.cores_ratio == 16_896 / 128


def test_same_month(chapter, n) -> None:
    assert chapter.says("in the very month in which CUDA was announced, AMD shipped an interface of its own")
    assert registry().facts["language-cuda-c.first_date"].text("value") == n.metal.first_date[:7] == "2006-11"
    assert n.brook.first_date < "2006"


def test_languages_oldest_first(chapter, n) -> None:
    assert chapter.says("Ways to write what a GPU computes, oldest first.")
    since = [row["since"] for row in n.languages]
    assert since == sorted(since)
    assert chapter.says("The newest … take a step away from it.")
    assert [row["unit"] for row in n.languages[-n.tiles_count :]] == ["one tile"] * n.tiles_count


def test_verdicts_are_those_of_the_list(chapter, n) -> None:
    assert chapter.says("Its definition is sound. What it has wrong is mostly history")
    claims = registry().claims
    assert [row["verdict"] for row in n.verdicts] == [claims[id].text("verdict") for id in n.judged]


def test_one_thread_is_slow(chapter, n) -> None:
    assert chapter.says("Because one thread of a GPU is slow.")
    assert n.one_thread_share < 1e-5


def test_threads_without_a_pixel(chapter, n) -> None:
    assert chapter.says("Blocks come in whole.")
    assert (n.padded, n.over_threads) == (1_024, 27)


def test_over_the_picture_it_depends_on_the_order(chapter) -> None:
    assert chapter.says("so it would be right in one order and wrong in another")
    found = {}
    for order in ("forward", "reverse"):
        pixels = simt.array((65,), "int16", [(i * i) % 97 for i in range(65)])
        simt.trace("gpumoat.kernels.bugs:strip_in_place", 1, 2, order=order)(pixels, 32, 32)
        found[order] = list(pixels.flat)[:64]
    right = [(i * i) % 97 - ((i + 1) * (i + 1)) % 97 for i in range(64)]
    assert (found["forward"] == right) != (found["reverse"] == right)
    assert chapter.says("With one thread it would be right")
    pixels = simt.array((65,), "int16", [(i * i) % 97 for i in range(65)])
    simt.run("gpumoat.kernels.bugs:strip_in_place", 1, 1)(pixels, 64, 64)
    assert list(pixels.flat)[:64] == right
