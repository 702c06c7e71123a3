"""The GPU Moat: numbers on AI compute that are computed, cited or measured in the open.

The four doors through which a value enters a worked example are here; the models are in the modules.
"""

from gpumoat.facts import as_of, assume, claim, fact, fact_text, measured
from gpumoat.hardware import gpu, model

__all__ = ["as_of", "assume", "claim", "fact", "fact_text", "gpu", "measured", "model"]
