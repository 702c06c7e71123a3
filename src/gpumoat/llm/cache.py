"""What a model keeps of the tokens it has seen: KV cache, latent vectors, recurrent state.

A cache is a property of a model *and* an engine: a layer with a window needs only the window, but an engine that
shares one pool between layers of several kinds gives each the same pages; an engine without latent attention keeps
whole keys and values; recurrent layers keep a state whose size does not depend on the context.

Rules: vLLM as in ``v1/kv_cache_interface.py``, ``v1/core/kv_cache_utils.py`` and ``model_executor/models/config.py``
(pages of 16 tokens; for hybrids so many that a page of attention is no smaller than a state); llama.cpp as in
``llama-kv-cache`` and ``llama-memory-recurrent`` (cells in multiples of 256; states and convolutions in fp32);
PagedAttention, arXiv 2309.06180.

Promises: bytes a token exact; blocks whole. Left out: what an engine wastes between sequences that share a prefix.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.llm.architecture import Architecture, Layer
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.mixers import COMPRESSED, LATENT, Mixer

KV_TYPES = {
    "fp32": (1, 4),
    "fp16": (1, 2),
    "bf16": (1, 2),
    "fp8": (1, 1),
    "int8": (1, 1),
    "q8_0": (32, 34),
    "q5_1": (32, 24),
    "q5_0": (32, 22),
    "q4_1": (32, 20),
    "q4_0": (32, 18),
    "nvfp4": (16, 9),
}
"""Data types of a cache: values of a block and its bytes."""

PAGE_TOKENS = 16
"""Tokens of a page in vLLM."""

CELLS = 256
"""What llama.cpp rounds the cells of a cache up to."""

STATE_BYTES = 4  # recurrent states are kept in fp32 by every engine here


@dataclass(frozen=True)
class CacheRules:
    """How an engine keeps a cache.

    Attributes:
        engine: ``vllm``, ``llama.cpp`` or ``transformers``.
        dtype: One of ``KV_TYPES``.
        tensor: Ranks of tensor parallelism.
        latent: Whether the engine keeps latent vectors as such.
        convolution_bytes: Bytes of a value that a convolution keeps.
        batch_tokens: Tokens of one step: what a window may hold besides itself.
        copies: Copies of a state, one more for each token that is guessed ahead.
    """

    engine: str = "vllm"
    dtype: str = "bf16"
    tensor: int = 1
    latent: bool = True
    convolution_bytes: int = 2
    batch_tokens: int = 8192
    copies: int = 1


def values_bytes(values: int, dtype: str) -> int:
    """Return the bytes of so many cached values, rounded up to whole blocks.

    Raises:
        ConfigError: The data type is not known.
    """
    if dtype not in KV_TYPES:
        raise ConfigError(f"kv-dtype must be one of {', '.join(KV_TYPES)}, not {dtype!r}")
    block, size = KV_TYPES[dtype]
    return -(-values * size // block)


def token_values(mixer: Mixer, tensor: int = 1, latent: bool = True) -> int:
    """Return how many values one token leaves in the cache of a layer, on one rank.

    Args:
        mixer: The layer's mixer.
        tensor: Ranks of tensor parallelism; a KV head is never cut.
        latent: Whether latent vectors are kept as such; they are whole on every rank.
    """
    if not mixer.owns_cache or not mixer.kv_heads:
        return 0
    if mixer.kind == COMPRESSED:
        return (mixer.latent + mixer.indexer) // mixer.every
    if mixer.kind == LATENT and latent:
        return mixer.latent + mixer.indexer
    return heads_on_rank(mixer, tensor) * (mixer.key_dim + mixer.value_dim)


def heads_on_rank(mixer: Mixer, tensor: int) -> int:
    """Return the KV heads of one rank: at least one."""
    return max(1, -(-mixer.kv_heads // tensor))


def layer_token_bytes(layer: Layer, rules: CacheRules) -> int:
    """Return the bytes that one token leaves in the cache of a layer, on one rank."""
    return sum(values_bytes(token_values(one, rules.tensor, rules.latent), rules.dtype) for one in layer.mixers)


def bytes_per_token(model: Architecture, dtype: str = "bf16", tensor: int = 1, latent: bool = True) -> int:
    """Return the bytes that one token leaves in the cache of all layers, on one rank.

    Layers with a window are counted too: while a token is inside the window, it is kept there.
    """
    rules = CacheRules(dtype=dtype, tensor=tensor, latent=latent)
    if model.encoder:
        return 0
    return sum(count * layer_token_bytes(layer, rules) for layer, count in model.kinds())


def state_bytes(mixer: Mixer, rules: CacheRules) -> tuple[int, int]:
    """Return the bytes that a recurrent layer keeps of one sequence on one rank: of its convolution, and its state."""
    if not mixer.kernel:
        return 0, 0
    convolution = mixer.convolution // rules.tensor * (mixer.kernel - 1) * rules.convolution_bytes
    return convolution * rules.copies, mixer.state // rules.tensor * STATE_BYTES * rules.copies


def layer_state_bytes(layer: Layer, rules: CacheRules) -> int:
    """Return the bytes that a layer keeps of one sequence, whatever its length."""
    return sum(sum(state_bytes(one, rules)) for one in layer.mixers)


def state_bytes_per_sequence(model: Architecture, rules: CacheRules) -> int:
    """Return the bytes that all recurrent layers keep of one sequence on one rank."""
    return sum(count * layer_state_bytes(layer, rules) for layer, count in model.kinds())


def page_tokens(model: Architecture, rules: CacheRules) -> int:
    """Return the tokens of a page in vLLM: 16, or as many as make a page of attention as large as a state.

    Source: ``HybridAttentionMambaModelConfig`` in vLLM's ``model_executor/models/config.py``.
    """
    state = max([layer_state_bytes(layer, rules) for layer, _ in model.kinds()] or [0])
    token = max([layer_token_bytes(layer, rules) for layer, _ in model.kinds()] or [0])
    if not state or not token:
        return PAGE_TOKENS
    return PAGE_TOKENS * max(1, -(-state // (PAGE_TOKENS * token)))


def kept_tokens(layer: Layer, rules: CacheRules, context: int, page: int, sequences: int = 1) -> int:
    """Return the tokens that a layer keeps of all sequences of ``context`` tokens each.

    llama.cpp makes one row of cells for all sequences; where layers have a window it holds theirs and one micro-batch.
    vLLM keeps whole pages of each sequence, and with a window one page more than that and a step can touch.
    """
    window = max([mixer.window for mixer in layer.mixers] or [0])
    if rules.engine == "llama.cpp":
        cells = -(-context // CELLS) * CELLS * sequences
        return min(cells, -(-(window * sequences + rules.batch_tokens) // CELLS) * CELLS) if window else cells
    if rules.engine == "transformers":
        return (min(context, window) if window else context) * sequences
    blocks = -(-context // page)
    if window:
        blocks = min(blocks, -(-min(window - 1 + rules.batch_tokens, context) // page) + 1)
    return blocks * page * sequences


def cache_bytes(model: Architecture, rules: CacheRules, context: int, sequences: int = 1) -> int:
    """Return the bytes of the cache of all sequences on one rank, without recurrent states.

    Args:
        model: The model.
        rules: How the engine keeps it.
        context: Tokens of each sequence.
        sequences: Sequences held at once.
    """
    page = page_tokens(model, rules)
    found = 0
    for layer, count in model.kinds():
        token = layer_token_bytes(layer, rules)
        if token:
            found += count * token * kept_tokens(layer, rules, context, page, sequences)
    return found


def pool_tokens(model: Architecture, rules: CacheRules, pool_bytes: int) -> int:
    """Return the tokens that a pool of so many bytes holds in vLLM, as its log prints them for uniform models.

    Raises:
        ConfigError: The model keeps nothing for a token.
    """
    page = page_tokens(model, rules)
    token = bytes_per_token(model, rules.dtype, rules.tensor, rules.latent)
    if not token:
        raise ConfigError("the model keeps no cache: a pool of tokens has no size")
    return pool_bytes // (page * token) * page
