"""Parameters of any model, exactly: total, used by one token, and by part.

A parameter is a weight of the model's class. Not counted: buffers such as causal masks, a tied head a second time,
scales of quantised weights, and the layers that predict several tokens at once, which are counted apart. The router's
balancing bias of DeepSeek-V3 and its kin is counted: files hold it, though the class calls it a buffer.

A token looks one row of the embedding up; the head is read whole. Active parameters count the embedding in full, as
model cards do.

Promises: whole numbers; the text of each formula gives the number beside it. Source of the formulas: the classes of
the transformers library. Left out: towers of a kind that is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.llm.architecture import Architecture
from gpumoat.llm.tensors import PARTS, Tensor
from gpumoat.llm.terms import sum_formula

SOURCE = "classes of the transformers library"


@dataclass(frozen=True)
class Count:
    """One part of a model and its parameters.

    Attributes:
        name: One of `gpumoat.llm.tensors.PARTS`.
        parameters: How many it has.
        active: How many of them one token uses.
        formula: How they are counted, in letters.
        numbers: The same with this model's numbers.
    """

    name: str
    parameters: int
    active: int
    formula: str
    numbers: str


def groups(model: Architecture) -> list[tuple[int, tuple[Tensor, ...]]]:
    """Return all weights of a model with how often they occur: outside the layers once, then each kind of layer."""
    found = [(1, model.embedding)]
    for layer, count in model.kinds():
        found.append((count, layer.tensors))
    found.append((1, model.final))
    found.append((1, model.head))
    found.append((1, model.towers))
    return found


def total_parameters(model: Architecture) -> int:
    """Return all parameters of a model."""
    return sum(count * one.parameters for count, tensors in groups(model) for one in tensors)


def active_parameters(model: Architecture) -> int:
    """Return the parameters that one token of text uses: experts that it does not use, and towers, are left out."""
    return sum(
        count * one.active_parameters
        for count, tensors in groups(model)
        for one in tensors
        if one.part not in ("vision", "audio")
    )


def extra_parameters(model: Architecture) -> int:
    """Return the parameters of layers that predict several tokens at once; they are not in the total."""
    layers = sum(one.parameters for layer in model.extra_layers for one in layer.tensors)
    return layers + sum(one.parameters for one in model.extra)


def stored_elements(model: Architecture) -> int:
    """Return the values that the published file of a model holds: parameters and buffers such as causal masks."""
    return total_parameters(model) + model.buffers


def by_part(model: Architecture) -> list[Count]:
    """Return the parts of a model from input to output; their sum is `total_parameters`."""
    found = []
    for part in PARTS:
        parts = [(count, tuple(one for one in tensors if one.part == part)) for count, tensors in groups(model)]
        parameters = sum(count * one.parameters for count, tensors in parts for one in tensors)
        if not parameters:
            continue
        tower = part in ("vision", "audio")
        active = 0 if tower else sum(count * one.active_parameters for count, tensors in parts for one in tensors)
        formula, numbers = sum_formula(parts)
        found.append(Count(part, parameters, active, formula, numbers))
    return found
