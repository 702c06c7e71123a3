"""Shapes of models in the catalogue: the step from sourced facts to the formulas."""

from __future__ import annotations

from gpumoat.hardware import model
from gpumoat.llm.gpt import GPTShape


def gpt_shape(id: str) -> GPTShape:
    """Return the shape of a GPT-style model of the catalogue, such as ``"gpt3"``; every size is a cited fact.

    Raises:
        DataError: The catalogue has no such model.
        AttributeError: The catalogue lacks one of its sizes.
    """
    found = model(id)
    hidden = found.hidden
    return GPTShape(
        hidden=int(hidden),
        layers=int(found.layers),
        heads=int(found.heads),
        vocabulary=int(found.vocabulary),
        positions=int(found.positions),
        feed_forward=int(found.feed_forward_ratio * hidden),
    )
