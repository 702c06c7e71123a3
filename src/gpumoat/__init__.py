"""The GPU Moat: numbers on AI compute that are computed, cited or measured in the open.

The four doors through which a value enters a worked example are here; the models are in the modules.
"""

from gpumoat.facts import as_of, assume, claim, fact, measured
from gpumoat.hardware import gpu, model

__all__ = ["as_of", "assume", "claim", "fact", "gpu", "measured", "model"]
