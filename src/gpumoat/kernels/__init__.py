"""Kernels for NVIDIA GPUs, as source of ``numba.cuda``: unchanged on a card, in numba's simulator and in ours.

Each module holds kernels for one task, from the first idea to the fastest one, and a table ``SIGNATURES`` with the
types that each kernel is compiled for. ``bugs`` and ``reduction_bugs`` hold kernels that are wrong on purpose.

Promises: the subset of ``numba.cuda`` that numba-cuda, its successor numba-cuda-mlir, numba's simulator and
``gpumoat.simt`` all read alike: ``cuda`` is a global of the module, narrow loads and float constants are converted
explicitly (a simulator that follows NumPy and a compiler disagree about ``uint8 - uint8``), one shared array a line, no
negative index, device functions with ``inline="always"`` (without a card, numba compiles no others). A kernel that
shuffles between lanes says so: numba's simulator cannot run it. Left out: launches, copies and timing, which are the
caller's.

Only numba is needed, and ``gpumoat.simt`` needs not even that: it reads the source.
"""
