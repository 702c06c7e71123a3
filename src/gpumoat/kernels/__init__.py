"""Kernels in numba.cuda source: each runs in our simulator, in numba's, and unchanged on a real card."""
