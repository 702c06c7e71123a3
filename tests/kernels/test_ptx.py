"""Every kernel becomes machine code for an H200 without one: numba-cuda and NVVM compile to PTX on any machine."""

import importlib
import re
import subprocess
import sys

import pytest

from gpumoat.bench.image_variants import PIXELS_EACH, WORD_PIXELS

pytest.importorskip("numba.cuda")
nvvm = pytest.importorskip("numba.cuda.cudadrv.nvvm")

MODULES = ("image", "stencil", "transpose", "bugs")


def kernels():
    for name in MODULES:
        module = importlib.import_module(f"gpumoat.kernels.{name}")
        for kernel, signature in module.SIGNATURES.items():
            yield pytest.param(getattr(module, kernel), signature, id=f"{name}:{kernel}")


def compile_ptx(kernel, signature):
    from numba import cuda

    try:
        ptx, _ = cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0))
    except Exception as error:
        if "NVVM" in str(error) or "libnvvm" in str(error):
            pytest.skip(f"no NVVM here: {error}")
        raise
    return ptx


def instructions(ptx):
    found = {}
    for line in ptx.splitlines():
        match = re.match(r"\s*(?:@!?%p\d+\s+)?((?:ld|st)\.(?:global|shared)\.\w+|bar\.sync|shfl\.sync\.\w+)", line)
        if match:
            found[match[1]] = found.get(match[1], 0) + 1
    return found


@pytest.mark.parametrize(("kernel", "signature"), list(kernels()))
def test_it_compiles_for_the_h200(kernel, signature):
    ptx = compile_ptx(kernel, signature)
    assert ".target sm_90" in ptx
    assert ".f64" not in ptx  # unsigned and signed integers mixed become float64 in numba, silently


def test_every_kernel_has_a_signature():
    from numba.cuda.dispatcher import CUDADispatcher

    for name in MODULES:
        module = importlib.import_module(f"gpumoat.kernels.{name}")
        made = {
            key
            for key, value in vars(module).items()
            if isinstance(value, CUDADispatcher)
            and not value.targetoptions.get("device")
            and value.py_func.__module__ == module.__name__
        }
        assert made == set(module.SIGNATURES)


def test_each_kernel_of_the_image_has_its_width():
    from gpumoat.kernels import image

    assert set(WORD_PIXELS) == set(image.SIGNATURES)
    assert set(PIXELS_EACH) < set(WORD_PIXELS)


def test_wide_words_are_loaded_and_stored_whole():
    """What the docstrings say: one load of a word, one of the next pixel, and nothing narrower."""
    from gpumoat.kernels import image

    four = instructions(compile_ptx(image.four_pixels, image.SIGNATURES["four_pixels"]))
    assert four == {"ld.global.u32": 1, "ld.global.u8": 1 + 2, "st.global.u64": 1, "st.global.u16": 1}
    eight = instructions(compile_ptx(image.eight_pixels, image.SIGNATURES["eight_pixels"]))
    assert eight == {"ld.global.u64": 1, "ld.global.u8": 1 + 2, "st.global.u64": 2, "st.global.u16": 1}


def test_a_planted_mixture_of_signs_becomes_a_float():
    """The trap that the first test looks for, so that it is known to be seen."""
    from numba import cuda, types, uint32

    def mixed(words, results):
        i = uint32(cuda.grid(1)) + uint32(cuda.blockDim.x)
        if i < words.size:
            results[i] = words[i]

    ptx, _ = cuda.compile_ptx(mixed, (types.uint32[::1], types.uint32[::1]), cc=(9, 0))
    assert ".f64" in ptx


def test_the_barrier_is_there_or_missing_as_the_names_say():
    from gpumoat.kernels import bugs, stencil

    right = instructions(compile_ptx(stencil.stencil_shared, stencil.SIGNATURES["stencil_shared"]))
    wrong = instructions(compile_ptx(bugs.stencil_without_barrier, bugs.SIGNATURES["stencil_without_barrier"]))
    assert (right["bar.sync"], wrong.get("bar.sync", 0)) == (1, 0)


def test_shuffles_are_shuffles():
    from gpumoat.kernels import image

    for name in image.SHUFFLES:
        found = instructions(compile_ptx(getattr(image, name), image.SIGNATURES[name]))
        assert any(each.startswith("shfl.sync") for each in found)


def test_reading_the_source_needs_no_numba():
    """The site and a browser read kernels as source: the list of launches imports neither numba nor NumPy."""
    hidden = "import sys; sys.modules['numba'] = sys.modules['numpy'] = None; "
    code = hidden + "import gpumoat.bench.kernel_cases as k; k.cases()"
    subprocess.run([sys.executable, "-c", code], check=True)
