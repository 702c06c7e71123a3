"""The kernels in numba's own simulator: results equal NumPy's at odd sizes. A process of its own, since numba decides
at import whether it simulates."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("numba")

PROGRAM = """
import json
from gpumoat.bench.image_variants import WORD_PIXELS
from gpumoat.bench.kernel_cases import image_case, in_place_case, stencil_case, transpose_case
from gpumoat.kernels.image import SHUFFLES

found = {}
launches = [image_case(each, count, 32) for each in WORD_PIXELS if each not in SHUFFLES for count in (1, 7, 257)]
for each in ("stencil_global", "stencil_shared"):
    launches += [stencil_case(each, 1, 3), stencil_case(each, 9, 35)]
launches += [transpose_case("transpose_" + each, 37, 5) for each in ("naive", "tiled", "padded")]
launches += [stencil_case(each, 9, 35, "bugs") for each in ("stencil_halo_off_by_one",)]
for case in launches:
    arguments = case.make()
    right = case.right(arguments)
    case.load()[case.grid, case.block](*arguments.values())
    name = f"{case.source} {arguments[case.output].shape}"
    found[name] = int((arguments[case.output] != right).sum())
print(json.dumps(found))
"""


def test_results_equal_numpy():
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment)
    wrong = json.loads(done.stdout)
    assert len(wrong) > 40
    bugs = {name: count for name, count in wrong.items() if ":" in name and ".bugs:" in name}
    assert all(not count for name, count in wrong.items() if name not in bugs), wrong
    # Planted: a halo that begins one pixel late is wrong nearly everywhere.
    (halo,) = bugs.values()
    assert halo > 9 * 35 * 9 // 10
