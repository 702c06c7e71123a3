"""Where a kernel comes from, what the names in it mean, and what is refused, with the line."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from gpumoat import simt

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def written(tmp_path):
    """Write a module and return the name of its kernel as text."""

    def write(text, name="kernel", file="made.py"):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return f"{path}:{name}"

    return write


def plain(out):
    """A plain function is a kernel too."""
    from_closure(out)


def from_closure(out):
    out[0] = len(out)


def test_plain_functions_closures_and_numba_kernels(tmp_path):
    numba_cuda = pytest.importorskip("numba.cuda")
    out = np.zeros(2)
    simt.run(plain, 1, 1)(out)
    assert out[0] == 2
    factor = 7

    def inner(out):
        out[0] = factor * 2

    simt.run(inner, 1, 1)(out)
    assert out[0] == 14

    cuda = numba_cuda

    @cuda.jit(device=True)
    def twice(x):
        return 2 * x

    @cuda.jit
    def decorated(out):
        out[cuda.grid(1)] = twice(numba_int8(300))

    from numba import int8 as numba_int8

    simt.run(decorated, 1, 1)(out)
    assert out[0] == 2 * (300 - 256)
    with pytest.raises(simt.SimtError, match="lambda"):
        simt.run(lambda out: None, 1, 1)(out)


def test_names_are_understood_without_importing_anything(written, tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("raise ImportError('this is never run')\n")
    written("HALF = SIZE // 2\nSIZE = 8\nTABLE = (1, 2, 3)\n", file="package/constants.py")
    written(
        """
        import numba
        import numpy as np
        from math import sqrt, pi as circle
        from numba_cuda_mlir import cuda
        from numba.types import int16
        from . import constants
        from .constants import HALF, TABLE as table
        import package.constants

        WORD = numba.int8
        NEGATIVE = -HALF * 2
        try:
            import anything
        except ImportError:
            anything = None

        @cuda.jit(device=True, inline=True)
        def rooted(x):
            return sqrt(x) + circle

        @cuda.jit("void(float64[:])")
        def kernel(out):
            out[0] = rooted(4.0)
            out[1] = HALF + table[2] + constants.SIZE
            out[2] = WORD(200) + int16(3) + NEGATIVE
            out[3] = np.float32(0.1)
            out[4] = numba.float32(0.2) + np.pi
            s = cuda.shared.array((HALF, 2), np.int32)
            out[5] = s.shape[0]
        """,
        file="package/kernels.py",
    )
    sys.path.insert(0, str(tmp_path))
    try:
        out = simt.array(6)
        simt.run("package.kernels:kernel", 1, 1)(out)
    finally:
        sys.path.remove(str(tmp_path))
    import math

    single = np.float32
    assert out.tolist() == [2 + math.pi, 15, -56 + 3 - 8, single(0.1), float(single(0.2)) + math.pi, 4]
    assert "package" not in sys.modules


def test_a_changed_file_is_read_again(written):
    out = simt.array(1)
    name = written("def kernel(out):\n    out[0] = 1\n")
    simt.run(name, 1, 1)(out)
    written("def kernel(out):\n    out[0] = 22\n")
    simt.run(name, 1, 1)(out)
    assert out[0] == 22


def test_neither_numba_nor_numpy_is_needed():
    code = (
        "import sys; sys.modules['numba'] = sys.modules['numpy'] = None\n"
        "from gpumoat import simt\n"
        "a, b = simt.array(65, 'int32', range(65)), simt.array(64, 'int32')\n"
        "report = simt.trace('gpumoat.bench.simt_speed_kernels:difference', 2, 32)(a, b)\n"
        "assert b.tolist() == [-1] * 64 and report.coverage('b').exactly_once\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(ROOT / "src")}, timeout=60)


def test_a_kernel_of_numbas_simulator():
    code = (
        "import numpy as np\n"
        "from gpumoat import simt\n"
        "from gpumoat.bench.simt_speed_kernels import difference\n"
        "b = np.zeros(64, np.int16)\n"
        "simt.run(difference, 2, 32)(np.arange(65, dtype=np.uint8), b)\n"
        "assert (b == -1).all()\n"
    )
    pytest.importorskip("numba.cuda")
    environment = {"PYTHONPATH": str(ROOT / "src"), "NUMBA_ENABLE_CUDASIM": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=60)


REFUSED = {
    "a list comprehension": "x = [i for i in range(3)]",
    "a dict": "x = {}",
    "a list": "x = [1, 2]",
    "a set": "x = {1}",
    "a lambda": "f = lambda x: x",
    "an f-string": "print(f'{a}')",
    "an assignment inside an expression": "x = (y := 3)",
    "try": "try:\n        x = 1\n    except ValueError:\n        x = 2",
    "raise": "raise ValueError",
    "with": "with a:\n        x = 1",
    "a nested function": "def f():\n        pass",
    "an import inside a kernel": "import math",
    "del": "del a",
    "global": "global G",
    "a slice": "x = a[1:3]",
    "the operator @": "x = 1 @ 2",
    "the comparison 'is'": "x = 1 is 2",
    "the comparison 'in'": "x = 1 in (1, 2)",
    "the method .sum()": "x = a.sum()",
    "the attribute .T of an array": "x = a.T",
    "a starred expression": "x, *y = (1, 2, 3)",
    "an assignment to a whole row of an array": "b[0] = 1",
    "cuda.cg.this_grid()": "x = cuda.cg.this_grid()",
    "cuda.libdevice.sin()": "x = cuda.libdevice.sin(1.0)",
    "cuda.atomic.mul()": "cuda.atomic.mul(a, 0, 1)",
    "cuda.fp16.hcube()": "x = cuda.fp16.hcube(a[0])",
    "math.perm()": "x = math.perm(3)",
    "a for statement over anything but range() or a tuple": "for x in a:\n        pass",
    "range() outside a for statement": "x = range(3)",
    "yield": "yield 1",
}
WRONG = {
    "the name nowhere is not defined": "x = nowhere",
    "is a class Complicated|object of class|not a plain constant": "x = COMPLICATED + 1",
    "a number is needed here, and a is the array a": "x = a + 1",
    "a is indexed with of type float64": "x = a[0.5]",
    "a has 1 axes, not 2": "x = a[0, 1]",
    "range\\(\\) needs integers": "for i in range(1.5):\n        pass",
    "range\\(\\) with a step of 0": "for i in range(0, 4, 0):\n        pass",
    "a kernel returns nothing": "return 3",
    "shape .* is not known before the launch": "s = cuda.shared.array(a.size, int32)",
    "static shared memory of 80000 bytes": "s = cuda.shared.array(20000, int32)",
    "cuda.atomic.add is not there for int8": "cuda.atomic.add(c, 0, 1)",
    "needs an index for each of b's 2 axes": "cuda.atomic.add(b, 0, 1)",
    "needs integers, not float64": "x = 1.5 & 3",
    "recursion: again calls itself": "x = again(3)",
    "takes 1 arguments, not 2": "x = again(3, 4)",
    "shfl_sync shuffles int32, int64, float32 or float64, not uint8": "x = cuda.shfl_sync(-1, uint8(1), 0)",
    "x is the array a or the array b2 here": "if a[0] > 0:\n        x = a\n    else:\n        x = b2\n    c[0] = x[0]",
    "cannot be written": "TABLE[0] = 1",
    "3 values for 2 names": "x, y = 1, 2, 3",
}
HEAD = """
import math
import numpy as np
from numba import cuda, int32, uint8

G = 1
COMPLICATED = sorted([3, 1])
TABLE = np.array([1, 2])

@cuda.jit(device=True)
def again(n):
    return again(n - 1)

@cuda.jit
def kernel(a, b, c, b2):
    cuda.syncthreads()
    {line}
"""


def refuse(written, line):
    text = HEAD.format(line=line)
    name = written(text)
    ran = np.zeros(4)
    given = (ran, np.zeros((2, 2)), np.zeros(4, np.int8), np.zeros(4))
    with pytest.raises(simt.SimtError) as caught:
        simt.trace(name, 1, 1)(*given)
    assert not ran.any()
    return str(caught.value)


@pytest.mark.parametrize("construct", REFUSED)
def test_what_is_not_supported_is_named_with_its_line(written, construct):
    message = refuse(written, REFUSED[construct])
    place, _, text = message.partition(": ")
    assert place.endswith(f"made.py:{HEAD.count(chr(10))}") or construct in ("yield",)
    assert text.startswith(construct)
    assert "not supported" in text


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named_with_its_line(written, text):
    import re

    message = refuse(written, WRONG[text])
    assert re.search(rf"made.py:\d+: .*({text})", message)


def test_parameters_that_a_kernel_cannot_have(written):
    with pytest.raises(simt.SimtError, match="plain parameters"):
        simt.run(written("def kernel(a, *rest):\n    pass\n"), 1, 1)(np.zeros(1))
    with pytest.raises(simt.SimtError, match=r"made.py:1: not Python"):
        simt.run(written("def kernel(a:\n    pass\n"), 1, 1)(np.zeros(1))
