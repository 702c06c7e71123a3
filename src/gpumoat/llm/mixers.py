"""Attention and what stands in its place: weights, what a token leaves in the cache, and the state of a sequence.

Each function makes one kind of mixer, the half of a layer in which tokens see each other: attention with heads that
may be grouped, latent attention (DeepSeek-V2, arXiv 2405.04434), Mamba (2312.00752), Mamba 2 (2405.21060), gated
delta rule (2412.06464) and short convolutions. Counts equal the public model classes.

Notation, besides that of `gpumoat.llm.tensors`: rq and rk ranks of the latent vectors of queries and of keys,
dn, dr, dv dimensions of a head's key without and with rotation and of its value; i inner width, N state of a channel,
K width of the convolution, R rank of the step size, G groups, nh heads and hd their dimension in Mamba 2;
nk and nv heads, dk and dv their dimensions in the delta rule.

Left out: how fast each of them is.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.llm.tensors import COLUMNS, KV, ROWS, WHOLE, Block, Tensor

FULL, SLIDING, CHUNKED, LATENT = "full attention", "sliding-window attention", "chunked attention", "latent attention"
COMPRESSED = "compressed attention"
MAMBA, MAMBA2, DELTA, CONVOLUTION, NONE = "Mamba", "Mamba 2", "gated delta rule", "short convolution", "no mixer"
STATEFUL = (MAMBA, MAMBA2, DELTA, CONVOLUTION)
"""Mixers with a state of constant size instead of a cache that grows."""


@dataclass(frozen=True)
class Mixer:
    """The half of a layer in which tokens see each other.

    Attributes:
        kind: One of the kinds above.
        tensors: Its weights.
        heads: Query heads.
        kv_heads: Heads whose keys and values are cached; 0 for none.
        key_dim: Values of a cached key, a head.
        value_dim: Values of a cached value, a head.
        latent: Values that a token caches for all heads together, where it caches a latent vector.
        indexer: Values that a token caches to be found by a sparse-attention index.
        window: Tokens that are seen, and need be kept; 0 for all.
        owns_cache: False where the cache of an earlier layer is read.
        convolution: Channels whose last inputs are kept, a sequence.
        kernel: Width of that convolution.
        state: Values of the recurrent state, a sequence.
        rotary_dim: Values of a head that rotate with the position; 0 for none.
        query_dim: Values of a query, a head.
        every: How many tokens share what one leaves in the cache; 1 for none.
    """

    kind: str
    tensors: tuple[Tensor, ...]
    heads: int = 0
    kv_heads: int = 0
    key_dim: int = 0
    value_dim: int = 0
    latent: int = 0
    indexer: int = 0
    window: int = 0
    owns_cache: bool = True
    convolution: int = 0
    kernel: int = 0
    state: int = 0
    rotary_dim: int = 0
    query_dim: int = 0
    every: int = 1


NO_MIXER = Mixer(NONE, ())


def attention(
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    kind: str = FULL,
    window: int = 0,
    qkv_bias: bool = False,
    out_bias: bool = False,
    qk_norm: str = "",
    gated: bool = False,
    sinks: bool = False,
    keys_are_values: bool = False,
    owns_cache: bool = True,
    rotary_dim: int = 0,
    norm_bias: bool = False,
    value_dim: int = 0,
) -> Mixer:
    """Return self-attention whose query heads share g KV heads: h(a + 2g)d + a·d·h weights.

    Args:
        hidden: Width h.
        heads: Query heads a.
        kv_heads: KV heads g.
        head_dim: Dimension d of a head.
        kind: Full, sliding-window or chunked attention.
        window: Tokens that are seen; 0 for all.
        qkv_bias: Whether queries, keys and values have biases.
        out_bias: Whether the output has one.
        qk_norm: Norm of queries and keys: ``head`` (one gain of d), ``all`` (a gain for each value), or none.
        gated: Whether the query matrix also makes a gate for the output, and is twice as large.
        sinks: Whether each head has a learned sink.
        keys_are_values: Whether the values are the keys, so that there is no value matrix.
        owns_cache: False for a layer that reads the keys and values of an earlier one, and has no matrices for them.
        rotary_dim: Values of a head that rotate.
        norm_bias: Whether the norms of queries and keys have biases.
        value_dim: Dimension dv of a value where it is not d; 0 where it is.
    """
    wide = value_dim or head_dim
    block = Block({"h": hidden, "a": heads, "g": kv_heads, "d": head_dim, "dv": wide}, "attention")
    size = "dv" if value_dim else "d"
    query = "2 × a × d" if gated else "a × d"
    block.matrix("self_attn.q_proj", query, "h", ROWS, "qkv", qkv_bias, heads)
    if owns_cache:
        block.matrix("self_attn.k_proj", "g × d", "h", KV, "qkv", qkv_bias, kv_heads)
        if not keys_are_values:
            block.matrix("self_attn.v_proj", f"g × {size}", "h", KV, "qkv", qkv_bias, kv_heads)
    block.matrix("self_attn.o_proj", "h", f"a × {size}", COLUMNS, "", out_bias, heads)
    if qk_norm:
        for name, all_heads, split, count in (("q", "a × d", ROWS, heads), ("k", "g × d", KV, kv_heads)):
            if name == "k" and not owns_cache:
                continue
            length = all_heads if qk_norm == "all" else "d"
            cut = split if qk_norm == "all" else WHOLE
            block.vector(f"self_attn.{name}_norm", length, "norms", cut, count if qk_norm == "all" else 0)
            if norm_bias:
                block.vector(f"self_attn.{name}_norm.bias", length, "norms", cut)
    if sinks:
        block.vector("self_attn.sinks", "a", "attention", ROWS, heads)
    return Mixer(
        kind,
        tuple(block.tensors),
        heads,
        kv_heads,
        head_dim,
        wide,
        window=window,
        owns_cache=owns_cache,
        rotary_dim=rotary_dim,
        query_dim=head_dim,
    )


def latent_attention(
    hidden: int,
    heads: int,
    query_rank: int,
    rank: int,
    plain_dim: int,
    rotary_dim: int,
    value_dim: int,
    bias: bool = False,
    index_heads: int = 0,
    index_dim: int = 0,
    window: int = 0,
) -> Mixer:
    """Return latent attention as in DeepSeek-V2: a token caches one vector of rk + dr values for all heads.

    Args:
        hidden: Width h.
        heads: Heads a.
        query_rank: Rank rq of the queries; 0 where they are made by one matrix.
        rank: Rank rk of keys and values.
        plain_dim: Dimension dn of a head's key without rotation.
        rotary_dim: Dimension dr with rotation, shared by all heads.
        value_dim: Dimension dv of a value.
        bias: Whether the first and last matrices have biases.
        index_heads: Heads of a sparse-attention index (DeepSeek-V3.2); 0 for none.
        index_dim: Their dimension.
        window: Tokens that are seen; 0 for all.
    """
    symbols = {
        "h": hidden,
        "a": heads,
        "rq": query_rank,
        "rk": rank,
        "dn": plain_dim,
        "dr": rotary_dim,
        "dv": value_dim,
        "ni": index_heads,
        "di": index_dim,
    }
    block = Block(symbols, "attention")
    if query_rank:
        block.matrix("self_attn.q_a_proj", "rq", "h", WHOLE, "qkv_a", bias)
        block.vector("self_attn.q_a_layernorm", "rq", "norms")
        block.matrix("self_attn.q_b_proj", "a × dn + a × dr", "rq", ROWS, "", False, heads)
    else:
        block.matrix("self_attn.q_proj", "a × dn + a × dr", "h", ROWS, "", False, heads)
    block.matrix("self_attn.kv_a_proj_with_mqa", "rk + dr", "h", WHOLE, "qkv_a", bias)
    block.vector("self_attn.kv_a_layernorm", "rk", "norms")
    block.matrix("self_attn.kv_b_proj", "a × dn + a × dv", "rk", ROWS, "", False, heads)
    block.matrix("self_attn.o_proj", "h", "a × dv", COLUMNS, "", bias, heads)
    if index_heads:
        block.matrix("self_attn.indexer.wq_b", "ni × di", "rq")
        block.matrix("self_attn.indexer.wk", "di", "h")
        block.vector("self_attn.indexer.k_norm", "2 × di", "norms")
        block.matrix("self_attn.indexer.weights_proj", "ni", "h")
    return Mixer(
        LATENT,
        tuple(block.tensors),
        heads,
        heads,
        plain_dim + rotary_dim,
        value_dim,
        rank + rotary_dim,
        index_dim if index_heads else 0,
        window,
        rotary_dim=rotary_dim,
        query_dim=plain_dim + rotary_dim,
    )


def mamba(
    hidden: int, inner: int, state: int, kernel: int, rank: int, conv_bias: bool, bias: bool, inner_norms: bool
) -> Mixer:
    """Return a Mamba 1 mixer: 2h·i + i·K + i(R + 2N) + R·i + i + i·N + i + i·h weights, without its norm.

    Args:
        hidden: Width h.
        inner: Inner width i.
        state: State N of a channel.
        kernel: Width K of the convolution.
        rank: Rank R of the step size.
        conv_bias: Whether the convolution has a bias.
        bias: Whether the first and last matrices have biases.
        inner_norms: Whether step size, B and C are normed, as in Jamba.
    """
    block = Block({"h": hidden, "i": inner, "N": state, "K": kernel, "R": rank}, "state space")
    block.matrix("mixer.in_proj", "2 × i", "h", ROWS, "", bias)
    block.matrix("mixer.conv1d", "i", "K", ROWS, "", conv_bias, linear=False)
    block.matrix("mixer.x_proj", "R + 2 × N", "i", COLUMNS)
    block.matrix("mixer.dt_proj", "i", "R", ROWS, "", True)
    block.matrix("mixer.A_log", "i", "N", ROWS, linear=False)
    block.vector("mixer.D", "i", split=ROWS)
    block.matrix("mixer.out_proj", "h", "i", COLUMNS, "", bias)
    if inner_norms:
        block.vector("mixer.dt_layernorm", "R", "norms")
        block.vector("mixer.b_layernorm", "N", "norms")
        block.vector("mixer.c_layernorm", "N", "norms")
    return Mixer(MAMBA, tuple(block.tensors), convolution=inner, kernel=kernel, state=inner * state)


def mamba2(
    hidden: int,
    heads: int,
    head_dim: int,
    state: int,
    groups: int,
    kernel: int,
    conv_bias: bool = True,
    bias: bool = False,
    norm: bool = True,
) -> Mixer:
    """Return a Mamba 2 mixer with i = nh·hd, without its norm: h(2i + 2GN + nh) + (i + 2GN)(K + 1) + 3nh + i + i·h.

    Args:
        hidden: Width h.
        heads: Heads nh.
        head_dim: Their dimension hd.
        state: State N of a channel.
        groups: Groups G that share B and C.
        kernel: Width K of the convolution.
        conv_bias: Whether the convolution has a bias.
        bias: Whether the first and last matrices have biases.
        norm: Whether the output is normed before the last matrix.
    """
    symbols = {"h": hidden, "i": heads * head_dim, "nh": heads, "hd": head_dim, "N": state, "G": groups, "K": kernel}
    block = Block(symbols, "state space")
    block.matrix("mixer.in_proj", "2 × i + 2 × G × N + nh", "h", ROWS, "", bias, heads)
    block.matrix("mixer.conv1d", "i + 2 × G × N", "K", ROWS, "", conv_bias, heads, linear=False)
    for name in ("dt_bias", "A_log", "D"):
        block.vector(f"mixer.{name}", "nh", split=ROWS, heads=heads)
    if norm:
        block.vector("mixer.norm", "i", "norms", ROWS)
    block.matrix("mixer.out_proj", "h", "i", COLUMNS, "", bias, heads)
    inner = heads * head_dim
    return Mixer(
        MAMBA2,
        tuple(block.tensors),
        heads=heads,
        convolution=inner + 2 * groups * state,
        kernel=kernel,
        state=inner * state,
    )


def delta_rule(hidden: int, key_heads: int, value_heads: int, key_dim: int, value_dim: int, kernel: int) -> Mixer:
    """Return a mixer with the gated delta rule, as in Qwen3-Next.

    Its matrices are h(2·nk·dk + 2·nv·dv) + 2h·nv + (2·nk·dk + nv·dv)K + 2nv + dv + nv·dv·h weights.

    Args:
        hidden: Width h.
        key_heads: Heads nk of keys and queries.
        value_heads: Heads nv of values.
        key_dim: Their dimension dk.
        value_dim: Their dimension dv.
        kernel: Width K of the convolution.
    """
    symbols = {"h": hidden, "nk": key_heads, "nv": value_heads, "dk": key_dim, "dv": value_dim, "K": kernel}
    block = Block(symbols, "state space")
    block.matrix("linear_attn.in_proj_qkvz", "2 × nk × dk + 2 × nv × dv", "h", ROWS, "", False, key_heads)
    block.matrix("linear_attn.in_proj_ba", "2 × nv", "h", ROWS, "", False, value_heads)
    block.matrix("linear_attn.conv1d", "2 × nk × dk + nv × dv", "K", ROWS, "", False, key_heads, linear=False)
    block.vector("linear_attn.dt_bias", "nv", split=ROWS, heads=value_heads)
    block.vector("linear_attn.A_log", "nv", split=ROWS, heads=value_heads)
    block.vector("linear_attn.norm", "dv", "norms")
    block.matrix("linear_attn.out_proj", "h", "nv × dv", COLUMNS, "", False, value_heads)
    return Mixer(
        DELTA,
        tuple(block.tensors),
        heads=key_heads,
        convolution=2 * key_heads * key_dim + value_heads * value_dim,
        kernel=kernel,
        state=value_heads * key_dim * value_dim,
    )


def short_convolution(hidden: int, kernel: int, bias: bool = False) -> Mixer:
    """Return a gated short convolution, as in LFM2: 3h² + h·K + h² weights.

    Args:
        hidden: Width h.
        kernel: Width K of the convolution.
        bias: Whether its matrices have biases.
    """
    block = Block({"h": hidden, "K": kernel}, "state space")
    block.matrix("conv.in_proj", "3 × h", "h", ROWS, "", bias)
    block.matrix("conv.conv", "h", "K", ROWS, "", bias, linear=False)
    block.matrix("conv.out_proj", "h", "h", COLUMNS, "", bias)
    return Mixer(CONVOLUTION, tuple(block.tensors), convolution=hidden, kernel=kernel)
