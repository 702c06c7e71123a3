"""The kernels in numba's own simulator: results equal NumPy's at odd sizes, and each access is the one that ours sees.

A process of its own, since numba decides at import whether it simulates.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

from gpumoat.bench.image_variants import WORD_PIXELS
from gpumoat.bench.kernel_cases import image_case, stencil_case, transpose_case
from gpumoat.simt import trace

SHUFFLES = ("four_words_shuffled", "eight_pixels_exchanged")
RECORDER = Path(__file__).resolve().parent.parent / "simt" / "numba_trace.py"


def launches():
    """Every kernel that numba's simulator can run, and a planted bug, at odd sizes."""
    found = [image_case(each, count, 32) for each in WORD_PIXELS if each not in SHUFFLES for count in (1, 7, 257)]
    for each in ("stencil_global", "stencil_shared"):
        found += [stencil_case(each, 1, 3), stencil_case(each, 9, 35)]
    found += [transpose_case("transpose_" + each, 37, 5) for each in ("naive", "tiled", "padded")]
    return [*found, stencil_case("stencil_halo_off_by_one", 9, 35, "bugs")]


def simulate(recorder):
    """Run in the other process: for each launch the wrong results and all accesses to global memory."""
    found = []
    for case in launches():
        arguments = case.make()
        right, rows = case.right(arguments), []
        given = [
            recorder.Recorded(value, number, rows, [*case.grid, 1]) if hasattr(value, "dtype") else value
            for number, value in enumerate(arguments.values())
        ]
        case.load()[case.grid, case.block](*given)
        found.append([int((arguments[case.output] != right).sum()), sorted(rows)])
    return found


PROGRAM = """
import importlib.util, json, sys

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

recorder, test = load("recorder", sys.argv[1]), load("test", sys.argv[2])
print(json.dumps(test.simulate(recorder)))
"""


@pytest.fixture(scope="module")
def theirs():
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", PROGRAM, str(RECORDER), __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_all_kernels_but_those_that_shuffle_are_run():
    from gpumoat.kernels import image

    assert image.SHUFFLES == SHUFFLES
    assert {case.kernel for case in launches() if case.module == "image"} == set(image.SIGNATURES) - set(SHUFFLES)


def test_results_equal_numpys(theirs):
    for case, (wrong, _) in zip(launches(), theirs, strict=True):
        if case.module == "bugs":
            assert wrong > 9 * 35 * 9 // 10  # planted: a halo one pixel late is wrong nearly everywhere
        else:
            assert wrong == 0, case.source


def test_accesses_are_those_that_our_simulator_sees(theirs):
    for case, (_, rows) in zip(launches(), theirs, strict=True):
        arguments = case.make()
        record = trace(case.source, case.grid, case.block)(*arguments.values()).record
        order = list(arguments)
        number = {array.number: order.index(array.name) for array in record.arrays if array.space == "global"}
        columns = zip(record.array, record.kind, record.index, record.in_block, record.thread, strict=True)
        ours = sorted([number[array], *rest] for array, *rest in columns if array in number)
        assert ours == rows, case.source
        assert rows
