"""A CUDA simulator that sees every access."""

from gpumoat.simt.errors import SimtError
from gpumoat.simt.launch import run, trace
from gpumoat.simt.memory import array
from gpumoat.simt.report import Report

__all__ = ["Report", "SimtError", "array", "run", "trace"]
