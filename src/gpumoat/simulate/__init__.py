"""Running things instead of solving them: inputs drawn at random, and a kernel's whole work done by a CPU.

``gpumoat.simulate.sampling`` draws inputs from their ranges; its names can be imported from here.
``gpumoat.simulate.full_size`` does the image difference at full size without a GPU. It needs numba and NumPy, and is
not imported from here, so that sampling needs nothing but the standard library.
"""

from gpumoat.simulate.sampling import SEED, Choice, Range, middle, quantile, share_where, simulate

__all__ = ["SEED", "Choice", "Range", "middle", "quantile", "share_where", "simulate"]
