"""The full-size run: equal to NumPy, writes counted exactly, and the lecture's two numbers told apart."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

numpy = pytest.importorskip("numpy")
pytest.importorskip("numba")

from gpumoat.partition import ceil_div  # noqa: E402
from gpumoat.simulate import full_size  # noqa: E402
from gpumoat.simulate.full_size import PIXELS, WORKERS, Writes, count_writes, differences, random_picture  # noqa: E402

steady = settings(deadline=None, max_examples=25)


def plainly(elements, stride, length, workers):
    counts = numpy.zeros(elements, int)
    for worker in range(workers):
        counts[worker * stride : worker * stride + length] += 1
    missed, repeated = numpy.flatnonzero(counts == 0), numpy.flatnonzero(counts > 1)
    first = [int(each[0]) if len(each) else None for each in (missed, repeated)]
    return Writes(elements, len(missed), len(repeated), *first)


@steady
@given(st.integers(1, 500), st.integers(1, 40), st.integers(1, 60), st.integers(1, 30))
def test_writes_are_counted_as_a_plain_loop_counts_them(elements, stride, length, workers):
    assert count_writes(elements, stride, length, workers) == plainly(elements, stride, length, workers)


@steady
@given(st.integers(1, 3000), st.integers(1, 70))
def test_differences_equal_numpys(pixels, workers):
    picture = random_picture(pixels)
    length = ceil_div(pixels, workers)
    found = differences(picture, length, length, workers)
    assert found.dtype == numpy.int16
    assert (found == numpy.subtract(picture[:-1], picture[1:], dtype=numpy.int16)).all()
    assert found[-1] == 0


def test_a_strip_too_short_leaves_results_as_they_were():
    picture = random_picture(1000)
    out = numpy.full(1000, full_size.POISON, numpy.int16)
    differences(picture, 100, 99, 10, out)
    assert (numpy.flatnonzero(out == full_size.POISON) == numpy.arange(99, 1000, 100)).all()


def test_the_lectures_numbers_at_a_sixtieth_of_the_size():
    """Of the picture's first 10,000,000 pixels; the whole picture is counted by the command, and by the benchmark.

    Strips one too far apart leave one pixel out between any two; one too long, they write one twice.
    """
    pixels, workers = PIXELS // 60, 273
    length = ceil_div(pixels, workers)
    assert ceil_div(PIXELS, WORKERS) == 36_622
    assert length == 36_631
    assert count_writes(pixels, length, length, workers).exactly_once
    too_long = count_writes(pixels, length, length + 1, workers)
    assert (too_long.missed, too_long.repeated, too_long.first_repeated) == (0, workers - 1, length)
    apart = count_writes(pixels, length + 1, length, workers)
    assert (apart.missed, apart.repeated, apart.first_missed) == (workers - 1, 0, length)
    down = count_writes(pixels, length - 1, length - 1, workers)
    assert (down.missed, down.first_missed) == (pixels - workers * (length - 1), workers * (length - 1))


def test_what_it_says():
    assert str(Writes(5, 0, 0)) == "all 5 written exactly once"
    assert str(Writes(5, 1, 0, 3)) == "1 never written, the first 3"
    assert str(Writes(5, 1, 2, 3, 0)) == "1 never written, the first 3; 2 written more than once, the first 0"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: count_writes(0, 1, 1, 1), "elements must be one or more, not 0"),
        (lambda: count_writes(1, 0, 1, 1), "stride must be one or more, not 0"),
        (lambda: count_writes(10, 1, 1000, 1), "length must be at most 255 strides, not 1,000 of 1"),
        (lambda: differences(random_picture(4), 1, 1, 0), "workers must be one or more, not 0"),
        (lambda: differences(random_picture(4)[:1], 1, 1, 1), "pixels must be one or more, not 0"),
    ],
)
def test_what_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_the_command(capsys):
    full_size.main(["--pixels", "100003", "--workers", "64"])
    said = capsys.readouterr().out
    assert "100,003 pixels, 64 virtual cores, strips of 1,563" in said
    assert "every result equals NumPy's" in said
    assert "all 100,003 written exactly once" in said
    assert "35 never written, the first 99,968" in said  # 64 x 1,562 = 99,968
    assert "63 written more than once, the first 1,563" in said
    assert "63 never written, the first 1,563" in said


def test_the_command_refuses_no_pixels(capsys):
    with pytest.raises(SystemExit):
        full_size.main(["--pixels", "0"])
    assert "--pixels must be one or more, not 0" in capsys.readouterr().err


def test_without_numba_there_is_one_line():
    code = "import sys; sys.modules['numba'] = None; from gpumoat.simulate.full_size import main; main([])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "gpumoat.simulate.full_size needs numba and NumPy: pip install numba\n"


def test_sampling_needs_neither_numba_nor_numpy():
    code = (
        "import sys; sys.modules['numba'] = sys.modules['numpy'] = None; from gpumoat.simulate import simulate, middle"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
