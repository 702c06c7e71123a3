"""Bytes that a GPT-style model needs: to answer, and to be trained.

A size is a list of `Term`: each says what it is for, how many bytes, and by which formula. Nothing is hidden
in a factor, so a reader can strike out a term that does not apply.

Promises: exact for what the terms name. Left out: what a program adds to it, such as the framework's own
context, buffers of libraries, rounding by the allocator, and fragmentation; and dividing the terms between
cards. What a term covers stands at its function.

Notation: N parameters, B sequences, s tokens in each, b bytes for one value; the others as in
`gpumoat.llm.gpt`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpumoat.facts import fact
from gpumoat.llm.gpt import GPTShape, in_numbers, parameters
from gpumoat.units import dtype_bytes

DEFINITION = "by definition"
VASWANI = "follows from attention, Vaswani et al. 2017, arXiv 1706.03762"
KINGMA = "Kingma and Ba 2015, arXiv 1412.6980"
MICIKEVICIUS = "Micikevicius et al. 2018, arXiv 1710.03740"
RAJBHANDARI = "Rajbhandari et al. 2020, arXiv 1910.02054"
KORTHIKANTI = "Korthikanti et al. 2022, arXiv 2205.05198"


@dataclass(frozen=True)
class Term:
    """One thing that takes memory.

    Attributes:
        name: What it is.
        size_bytes: How many bytes it takes.
        bytes_per_parameter: How many of them a parameter; 0 where the size does not follow the parameters.
        formula: How the size is counted, in letters.
        numbers: The same formula with the numbers.
        source: Where the formula, or the need for this term, comes from.
    """

    name: str
    size_bytes: float
    bytes_per_parameter: float
    formula: str
    numbers: str
    source: str


def weights_bytes(parameter_count: int, dtype: str | float) -> float:
    """Return the bytes of the weights.

    Args:
        parameter_count: Number of parameters.
        dtype: A data type such as ``"fp16"``, or the bytes that one parameter takes.
    """
    return parameter_count * _bytes(dtype)


def kv_cache_bytes(shape: GPTShape, tokens: int, sequences: int = 1, dtype: str | float = "fp16") -> float:
    """Return the bytes of the KV cache: a key and a value for each layer, head and token.

    The formula is 2 · L · a·d · s · B · b, and a·d is h in GPT-2 and in GPT-3 175B. It follows from attention
    (Vaswani et al. 2017, section 3.2): keys and values of earlier tokens do not change, so they are kept.

    Args:
        shape: The model.
        tokens: Tokens s that are kept of each sequence, prompt and answer together.
        sequences: Sequences B that are answered at once.
        dtype: A data type such as ``"fp16"``, or the bytes that one value takes.

    Raises:
        ValueError: ``tokens`` is more than the model has positions, or less than 0.
    """
    _check_batch(shape, tokens, sequences)
    return 2 * shape.layers * shape.heads * shape.head_dim * tokens * sequences * _bytes(dtype)


def inference_terms(
    shape: GPTShape,
    tokens: int,
    sequences: int = 1,
    dtype: str | float = "fp16",
    cache_dtype: str | float | None = None,
) -> list[Term]:
    """Return what answering takes: the weights and the KV cache.

    Left out: the activations of the few tokens in flight, and the scores for the vocabulary. Both are small
    beside the weights of a large model and depend on the program that runs it.

    Args:
        shape: The model.
        tokens: Tokens that are kept of each sequence.
        sequences: Sequences that are answered at once.
        dtype: Data type of the weights, or bytes a parameter.
        cache_dtype: Data type of the cache, or bytes a value; the weights' own if not given.
    """
    cache = dtype if cache_dtype is None else cache_dtype
    symbols = {"s": tokens, "B": sequences, "b": _bytes(cache)}
    formula = "2 × L × a × d × s × B × b"
    return [
        _state("weights", parameters(shape), dtype, DEFINITION),
        Term(
            "KV cache",
            kv_cache_bytes(shape, tokens, sequences, cache),
            0,
            formula,
            in_numbers(formula, shape, symbols),
            VASWANI,
        ),
    ]


def training_terms(
    parameter_count: int,
    weights: str | float = "fp16",
    gradients: str | float = "fp16",
    momentum: str | float = "fp32",
    variance: str | float = "fp32",
    master: str | float | None = "fp32",
) -> list[Term]:
    """Return the states that training with Adam keeps for each parameter.

    The defaults are mixed precision as in Rajbhandari et al. 2020 (ZeRO): 2 + 2 + 4 + 4 + 4 = 16 bytes a
    parameter. `full_precision_terms` has 4 + 4 + 4 + 4 = 16 as well: halving the width of the weights and
    gradients saves exactly what the fp32 copy costs. Some programs keep gradients in fp32 too: 18.

    Args:
        parameter_count: Number of parameters.
        weights: Data type of the weights that the forward pass uses, or bytes a parameter; the others alike.
        gradients: Data type of the gradients.
        momentum: Data type of Adam's running mean of the gradient.
        variance: Data type of Adam's running mean of its square.
        master: Data type of the copy of the weights that the optimizer updates, or None if it updates the
            weights themselves.
    """
    terms = [
        _state("weights", parameter_count, weights, DEFINITION),
        _state("gradients", parameter_count, gradients, RAJBHANDARI),
        _state("Adam, momentum", parameter_count, momentum, KINGMA),
        _state("Adam, variance", parameter_count, variance, KINGMA),
    ]
    if master is not None:
        terms.append(_state("master copy of the weights", parameter_count, master, MICIKEVICIUS))
    return terms


def full_precision_terms(parameter_count: int) -> list[Term]:
    """Return the states of training with Adam in fp32 throughout: no second copy of the weights is needed."""
    return training_terms(parameter_count, "fp32", "fp32", "fp32", "fp32", None)


def activation_bytes_per_layer(shape: GPTShape, tokens: int, sequences: int = 1, recompute: str = "none") -> int:
    """Return the bytes of activations that one layer keeps for the backward pass.

    Korthikanti et al. 2022 count, in bytes for 16-bit values and 8-bit dropout masks: s·B·h·(34 + 5·a·s/h)
    with everything kept; 34·s·B·h when the attention scores are computed again (``"selective"``); 2·s·B·h
    when only the layer's input is kept (``"full"``; while a layer is computed again, its own activations come
    on top, for one layer at a time).

    Covers: a layer with f = 4h, a·d = h, GELU, LayerNorm and dropout, on one card, without fused kernels.
    Left out: embeddings, the final norm, and the scores for the vocabulary with their loss.

    Args:
        shape: The model.
        tokens: Length s of each sequence.
        sequences: Sequences B in one step on this card.
        recompute: ``"none"``, ``"selective"`` or ``"full"``.

    Raises:
        ValueError: The layer is not of the kind that the formula covers, ``tokens`` is more than the model
            has positions, or ``recompute`` is none of the three.
    """
    _check_batch(shape, tokens, sequences)
    if shape.feed_forward != 4 * shape.hidden:
        raise ValueError(f"feed_forward must be 4 * hidden for this formula, not {shape.feed_forward}")
    if shape.heads * shape.head_dim != shape.hidden:
        raise ValueError(f"head_dim must be hidden / heads for this formula, not {shape.head_dim}")
    positions = tokens * sequences
    if recompute == "full":
        return positions * shape.hidden * _width("recomputed_bytes_per_hidden_value")
    linear = _width("linear_bytes_per_hidden_value")
    if recompute == "selective":
        return positions * shape.hidden * linear
    if recompute == "none":
        scores = _width("attention_bytes_per_score")
        return positions * (linear * shape.hidden + scores * shape.heads * tokens)
    raise ValueError(f'recompute must be "none", "selective" or "full", not {recompute!r}')


def activation_terms(shape: GPTShape, tokens: int, sequences: int = 1, recompute: str = "none") -> list[Term]:
    """Return the activations of all layers as a term; see `activation_bytes_per_layer` for what it covers."""
    size = shape.layers * activation_bytes_per_layer(shape, tokens, sequences, recompute)
    formula = {
        "none": "L × s × B × (34 × h + 5 × a × s)",
        "selective": "L × s × B × 34 × h",
        "full": "L × s × B × 2 × h",
    }[recompute]
    symbols = {"s": tokens, "B": sequences}
    return [Term("activations", size, 0, formula, in_numbers(formula, shape, symbols), KORTHIKANTI)]


def total_bytes(terms: Sequence[Term]) -> float:
    """Return the sum of the terms' bytes: a whole number if each of them is one."""
    total: float = 0
    for term in terms:
        total = total + term.size_bytes
    return total


def _state(name: str, parameter_count: int, dtype: str | float, source: str) -> Term:
    """Return a term with a fixed number of bytes for each parameter."""
    each = _bytes(dtype)
    numbers = in_numbers("N × b", None, {"N": parameter_count, "b": each})
    return Term(name, parameter_count * each, each, "N × b", numbers, source)


def _width(name: str) -> int:
    """Return one of the bytes that Korthikanti et al. 2022 count; they are facts, so that a number names them."""
    return int(fact("activations-16-bit." + name))


def _bytes(dtype: str | float) -> float:
    """Return the bytes of one value: a data type is looked up, anything else is taken as bytes already."""
    return dtype_bytes(dtype) if isinstance(dtype, str) else dtype


def _check_batch(shape: GPTShape, tokens: int, sequences: int) -> None:
    if not 0 <= tokens <= shape.positions:
        raise ValueError(f"tokens must be from 0 to {shape.positions}, the model's positions, not {tokens}")
    if sequences < 0:
        raise ValueError(f"sequences must be at least 0, not {sequences}")
