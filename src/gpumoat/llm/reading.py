"""From a published config to an `Architecture`: the one reader for all decoders.

What a file says wins; what it leaves out, the model's class says (`gpumoat.llm.traits`, and the defaults in the
catalogue); what neither says is assumed and noted, or refused in one line.

Promises: a config of a known family gives the parameters of its public class exactly. An unknown family is read by
its fields when they suffice, and ``assumed`` names what was taken for granted. Left out: encoder-decoder models.
"""

from __future__ import annotations

from typing import Any

from gpumoat.llm import feed_forward as ff
from gpumoat.llm import mixers as mx
from gpumoat.llm.architecture import Architecture, Layer, RotaryTable
from gpumoat.llm.fields import LARGEST_COUNT, MOST_LAYERS, ConfigError, Fields
from gpumoat.llm.patterns import CHUNKED, CONVOLUTION, FULL, LINEAR, MAMBA, SLIDING, expert_layers, mixer_kinds
from gpumoat.llm.tensors import COLUMNS, ROWS, VOCABULARY, WHOLE, Block, Tensor
from gpumoat.llm.traits import FAMILIES, UNKNOWN

HIDDEN = "hidden_size n_embd d_model n_embed model_dim"
LAYERS = "num_hidden_layers n_layer n_layers num_layers"
HEADS = "num_attention_heads n_head n_heads num_heads"
KV_HEADS = "num_key_value_heads num_kv_heads n_head_kv kv_n_heads"
VOCABULARY_SIZE = "padded_vocab_size vocab_size n_vocab"
POSITIONS = "max_position_embeddings n_positions max_seq_len seq_length max_sequence_length model_max_length n_ctx"
WIDTH = "intermediate_size ffn_dim n_inner ffn_hidden_size d_ff"
EXPERTS = "num_experts num_local_experts n_routed_experts moe_num_experts"
PER_TOKEN = "num_experts_per_tok num_experts_per_token moe_topk moe_top_k moe_k top_k_experts top_k"
EXPERT_WIDTH = "moe_intermediate_size expert_intermediate_size"
FOUR_TIMES = "gpt2 gptj gpt_bigcode gpt_neo bloom falcon mpt".split()
"""Families whose feed-forward block is four times as wide as the model where no field says otherwise."""


def switch(fields: Fields, rule: str) -> bool:
    """Return what a switch of `gpumoat.llm.traits` says for a config."""
    if rule in ("", "yes"):
        return rule == "yes"
    name, _, otherwise = rule.partition("=")
    return fields.flag(name, otherwise == "yes")


class Reader:
    """Reads one decoder; a method each for what it is made of.

    Attributes:
        fields: The config of the text model.
        family: The family, as the config names it.
        traits: What its class does.
    """

    def __init__(self, fields: Fields, family: str) -> None:
        self.fields = fields
        self.family = family
        self.known = family in FAMILIES
        self.traits = FAMILIES.get(family, UNKNOWN)
        self.hidden = fields.number(HIDDEN)
        self.count = self._count()
        self.gated = self.traits.gated
        if not self.known:
            self._say_unknown()

    def _count(self) -> int:
        listed = self.fields.items("layers_block_type block_configs")
        if listed is not None and not self.fields.has(LAYERS):
            return self.fields.check(
                self.fields.find("layers_block_type block_configs")[0], len(listed), 1, MOST_LAYERS
            )
        pattern = self.fields.text("hybrid_override_pattern")
        if pattern and not self.fields.has(LAYERS):
            return self.fields.check("hybrid_override_pattern", len(pattern), 1, MOST_LAYERS)
        return self.fields.number(LAYERS, most=MOST_LAYERS)

    def _say_unknown(self) -> None:
        self.fields.assume(
            f"model_type {self.family!r} is not known: read by its fields, with two RMSNorms a layer, "
            "a gated feed-forward block, and biases only where a field names them"
        )

    # Attention

    def heads(self) -> tuple[int, int, int]:
        """Return query heads, KV heads and the dimension of a head."""
        fields = self.fields
        heads = fields.number(HEADS)
        kv_heads = self._kv_heads(heads)
        head_dim = self._head_dim(heads)
        if heads % kv_heads:
            raise ConfigError(
                f"{fields.where}{fields.find(HEADS)[0]} must be a multiple of the KV heads: "
                f"{heads} heads cannot share {kv_heads}"
            )
        return heads, kv_heads, head_dim

    def _kv_heads(self, heads: int) -> int:
        fields = self.fields
        if self.family == "falcon":
            if fields.flag("new_decoder_architecture"):
                return fields.number("num_kv_heads n_head_kv num_key_value_heads", heads)
            return 1 if fields.flag("multi_query", True) else heads
        if self.family == "gpt_bigcode":
            return 1 if fields.flag("multi_query", True) else heads
        if self.family == "chatglm" or fields.has("multi_query_group_num"):
            return (
                fields.number("multi_query_group_num", heads) if fields.flag("multi_query_attention", True) else heads
            )
        if fields.text("attn_type") == "multiquery_attention":
            return 1
        return fields.number(KV_HEADS, heads)

    def _head_dim(self, heads: int) -> int:
        if self.fields.find("head_dim attention_head_dim kv_channels")[1] is not None:
            return self.fields.number("head_dim attention_head_dim kv_channels")
        if self.hidden % heads:
            raise ConfigError(
                f"{self.fields.where}head_dim is missing, and {self.fields.find(HIDDEN)[0]} = {self.hidden} "
                f"is no multiple of {heads} heads"
            )
        return self.hidden // heads

    def window(self) -> int:
        """Return the tokens of a window, or 0."""
        name, value = self.fields.find("sliding_window window_size attention_window_size attention_chunk_size")
        if value is None or value is False or value == -1:
            return 0
        return self.fields.check(name, value, 0, LARGEST_COUNT)

    def qk_norm(self) -> str:
        """Return how queries and keys are normed."""
        rule = self.traits.qk_norm
        if ":" in rule:
            name, _, kind = rule.partition(":")
            return kind if self.fields.flag(name) else ""
        return rule

    def rotary_dim(self, head_dim: int) -> int:
        """Return how many values of a head rotate; 0 where positions are not rotary."""
        fields = self.fields
        if self.traits.learned >= 0 or self.family in ("bloom", "mpt") or fields.flag("alibi"):
            return 0
        if fields.find("rotary_dim")[1] is not None:
            return min(fields.number("rotary_dim"), head_dim)
        share = fields.decimal("partial_rotary_factor rotary_pct rope_percent", 0.0, 0.0, 1.0)
        for name in ("rope_parameters", "rope_scaling"):
            inner = fields.data.get(name)
            if not share and isinstance(inner, dict) and "partial_rotary_factor" in inner:
                share = Fields(inner, where=f"{fields.where}{name}.").decimal("partial_rotary_factor", 0.0, 0.0, 1.0)
        return int(head_dim * share) if share else head_dim

    def attention(self, kind: str, place: int) -> mx.Mixer:
        """Return the attention of a layer.

        Args:
            kind: ``full``, ``sliding`` or ``chunked``.
            place: Which layer it is, counted from 0.
        """
        fields, traits = self.fields, self.traits
        if fields.find("kv_lora_rank")[1] is not None:
            return self._latent()
        heads, kv_heads, head_dim = self.heads()
        names = {FULL: mx.FULL, SLIDING: mx.SLIDING, CHUNKED: mx.CHUNKED}
        return mx.attention(
            self.hidden,
            heads,
            kv_heads,
            head_dim,
            names[kind],
            0 if kind == FULL else self.window(),
            switch(fields, traits.qkv_bias),
            switch(fields, traits.out_bias),
            self.qk_norm(),
            switch(fields, traits.query_gate),
            traits.sinks,
            rotary_dim=self.rotary_dim(head_dim),
            norm_bias=self.family == "phi",
        )

    def _latent(self, indexed: bool = True) -> mx.Mixer:
        fields = self.fields
        index = fields.number("index_n_heads", 0, 0) if indexed else 0
        return mx.latent_attention(
            self.hidden,
            fields.number(HEADS),
            fields.number("q_lora_rank", 0, 0),
            fields.number("kv_lora_rank"),
            fields.number("qk_nope_head_dim"),
            fields.number("qk_rope_head_dim"),
            fields.number("v_head_dim"),
            switch(fields, self.traits.qkv_bias),
            index,
            fields.number("index_head_dim") if index else 0,
        )

    # Recurrent layers

    def recurrent(self) -> str:
        """Return what a recurrent layer of this family is."""
        return LINEAR if self.fields.find("linear_num_value_heads linear_attn_config")[1] is not None else MAMBA

    def delta_rule(self) -> mx.Mixer:
        """Return a layer with the gated delta rule."""
        fields = self.fields
        return mx.delta_rule(
            self.hidden,
            fields.number("linear_num_key_heads"),
            fields.number("linear_num_value_heads"),
            fields.number("linear_key_head_dim"),
            fields.number("linear_value_head_dim"),
            fields.number("linear_conv_kernel_dim", 4, why="the width of the convolution"),
        )

    def mamba(self) -> mx.Mixer:
        """Return a Mamba layer of the first or second kind."""
        fields = self.fields
        state = fields.number("ssm_state_size mamba_d_state state_size d_state")
        kernel = fields.number("conv_kernel mamba_d_conv d_conv", 4)
        conv_bias = fields.flag("use_conv_bias mamba_conv_bias", True)
        bias = fields.flag("mamba_proj_bias" if self.family == "jamba" else "use_bias mamba_proj_bias")
        if self.family in ("mamba", "falcon_mamba", "jamba"):
            inner = fields.number("mamba_expand expand", 2) * self.hidden
            if self.family != "jamba":
                inner = fields.number("intermediate_size d_inner", inner)
            name, rank = fields.find("mamba_dt_rank time_step_rank dt_rank")
            size = -(-self.hidden // 16) if rank is None or rank == "auto" else fields.check(name, rank)
            return mx.mamba(self.hidden, inner, state, kernel, size, conv_bias, bias, self.family == "jamba")
        heads = fields.number("mamba_num_heads mamba_n_heads num_heads n_mamba_heads")
        inner = fields.number("mamba_d_ssm mamba_intermediate", 0, 0)
        name, head_dim = fields.find("mamba_head_dim mamba_d_head" + (" head_dim" if self.family == "mamba2" else ""))
        if head_dim is None or head_dim == "auto":
            inner = inner or fields.number("mamba_expand expand", 2) * self.hidden
            if inner % heads:
                raise ConfigError(f"{fields.where}{name} is missing, and {inner} is no multiple of {heads} heads")
            size = inner // heads
        else:
            size = fields.check(name, head_dim)
        groups = fields.number("n_groups mamba_n_groups ngroups", 1)
        norm = fields.flag("mamba_rms_norm", True) if self.family == "falcon_h1" else True
        return mx.mamba2(self.hidden, heads, size, state, groups, kernel, conv_bias, bias, norm)

    def convolution(self) -> mx.Mixer:
        """Return a short convolution."""
        return mx.short_convolution(self.hidden, self.fields.number("conv_L_cache", 3), self.fields.flag("conv_bias"))

    # Feed-forward

    def width(self, place: int) -> int:
        """Return the width of the dense block of a layer."""
        fields = self.fields
        name, value = fields.find(WIDTH)
        if isinstance(value, list):
            sizes = fields.numbers(WIDTH) or []
            if len(sizes) < self.count:
                raise ConfigError(f"{fields.where}{name} has {len(sizes)} widths, but there are {self.count} layers")
            return sizes[place]
        if value is None and self.family in FOUR_TIMES:
            return int(fields.decimal("expansion_ratio", 4, 0.01, 1000) * self.hidden)
        return fields.number(WIDTH)

    def dense(self, place: int) -> ff.FeedForward:
        """Return the dense block of a layer."""
        bias = switch(self.fields, self.traits.mlp_bias)
        learned = 2 if self.family == "apertus" else 0  # its activation has two learned values
        return ff.dense(self.hidden, self.width(place), self.gated, bias, bias, learned)

    def experts(self, place: int) -> ff.FeedForward:
        """Return the experts of a layer."""
        fields, traits = self.fields, self.traits
        count = fields.number(EXPERTS)
        per_token = fields.number(PER_TOKEN, most=count)
        width = fields.number(f"{EXPERT_WIDTH} {WIDTH}")
        return ff.experts(
            self.hidden,
            count,
            per_token,
            width,
            self.gated,
            traits.expert_bias,
            switch(fields, traits.router_bias),
            self.shared_width(width),
            traits.shared_gate,
        )

    def shared_width(self, width: int) -> int:
        """Return the width of what every token uses beside the experts."""
        fields, rule = self.fields, self.traits.shared
        if rule == "same":
            return width
        if not self.known and not rule:
            for name in ("shared_expert_intermediate_size", "n_shared_experts", "num_shared_experts"):
                if fields.find(name)[1] is not None:
                    rule = name
                    break
        if not rule:
            return 0
        if rule.endswith("_size"):
            return fields.number(rule, 0, 0)
        return fields.number(f"{rule} num_shared_experts", 0, 0) * width

    # Norms, embedding and head

    def vectors(self, block: Block, module: str, length: str = "h") -> None:
        """Add a norm of the family's kind."""
        if self.traits.norm == "none":
            return
        block.vector(module, f"2 × {length}" if self.traits.norm == "layer" else length)

    def norms(self, place: int) -> tuple[Tensor, ...]:
        """Return the norms of a layer."""
        block = Block({"h": self.hidden}, "norms")
        for number in range(self.norm_count()):
            self.vectors(block, f"norm_{number + 1}")
        return tuple(block.tensors)

    def norm_count(self) -> int:
        """Return how many norms a layer has."""
        fields = self.fields
        if self.family == "falcon":
            if fields.flag("new_decoder_architecture"):
                return fields.number("num_ln_in_parallel_attn", 2, 1, 2)
            return 1 if fields.flag("parallel_attn", True) else 2
        if self.family == "stablelm" and fields.flag("use_parallel_residual"):
            return 1
        return self.traits.norms

    def embedding(self) -> tuple[Tensor, ...]:
        """Return what comes before the layers."""
        fields, traits = self.fields, self.traits
        vocabulary = fields.number(VOCABULARY_SIZE)
        width = fields.number("word_embed_proj_dim", self.hidden) if self.family == "opt" else self.hidden
        symbols = {"V": vocabulary, "h": self.hidden, "P": 0, "w": width}
        block = Block(symbols, "embedding")
        block.matrix("embed_tokens", "V", "h" if width == self.hidden else "w", VOCABULARY, linear=False)
        if width != self.hidden:
            block.matrix("project_in", "h", "w")
            block.matrix("project_out", "w", "h")
        if traits.learned >= 0:
            symbols["P"] = fields.number(POSITIONS, most=LARGEST_COUNT) + traits.learned
            block.matrix("embed_positions", "P", "h", WHOLE, linear=False)
        if traits.embedding_norm:
            block.part = "norms"
            self.vectors(block, "embed_norm")
        return tuple(block.tensors)

    def final(self) -> tuple[Tensor, ...]:
        """Return the norm after the last layer."""
        block = Block({"h": self.hidden}, "norms")
        final = self.traits.final_norm
        if self.family == "opt":
            final = self.fields.flag("do_layer_norm_before", True) and not self.fields.flag("_remove_final_layer_norm")
        if final:
            self.vectors(block, "norm")
        return tuple(block.tensors)

    def tied(self) -> bool:
        """Say whether the head is the token embedding."""
        return self.fields.flag("tie_word_embeddings tie_embeddings", self.traits.tied)

    def head(self) -> tuple[Tensor, ...]:
        """Return the head, and its bias if it has one; of a tied head only the bias is its own."""
        block = Block({"V": self.fields.number(VOCABULARY_SIZE), "h": self.hidden}, "head")
        bias = switch(self.fields, self.traits.head_bias)
        if not self.tied():
            block.matrix("lm_head", "V", "h", VOCABULARY, "", bias)
        elif bias:
            block.vector("lm_head.bias", "V", split=VOCABULARY)
        return tuple(block.tensors)

    # Layers

    def has_experts(self) -> bool:
        """Say whether the model has experts at all."""
        name, value = self.fields.find(EXPERTS)
        return value is not None and self.fields.check(name, value, 0) > (1 if self.family in ("jamba",) else 0)

    def layers(self) -> list[Layer]:
        """Return all layers in order; those of one make are one object."""
        kinds = mixer_kinds(self.fields, self.count, self.window(), self.traits.window, self.recurrent())
        sparse = expert_layers(self.fields, self.count) if self.has_experts() else [False] * self.count
        made: dict[str, Layer] = {}
        found = []
        for place in range(self.count):
            key = self.key(kinds[place], sparse[place], place)
            if key not in made:
                made[key] = self.layer(key, kinds[place], sparse[place], place)
            found.append(made[key])
        return found

    def key(self, kind: str, sparse: bool, place: int) -> str:
        """Return a word that is the same for layers of the same make."""
        width = "" if sparse or not isinstance(self.fields.find(WIDTH)[1], list) else f" of {self.width(place):,}"
        return f"{kind}, {'experts' if sparse else 'dense'}{width}"

    def mixer(self, kind: str, place: int) -> mx.Mixer:
        """Return the mixer of a layer."""
        if kind == LINEAR:
            return self.delta_rule()
        if kind == MAMBA:
            return self.mamba()
        if kind == CONVOLUTION:
            return self.convolution()
        if kind not in (FULL, SLIDING, CHUNKED):
            raise ConfigError(f"{self.fields.where}layer_types has {kind!r}, which model_type {self.family!r} lacks")
        return self.attention(kind, place)

    def layer(self, key: str, kind: str, sparse: bool, place: int) -> Layer:
        """Return one layer."""
        feed = self.experts(place) if sparse else self.dense(place)
        return Layer(key, self.mixer(kind, place), feed, self.norms(place))

    # Rotary tables

    def tables(self, layers: list[Layer]) -> list[RotaryTable]:
        """Return the tables of cosines and sines that an engine keeps, one for each way to rotate.

        A linear stretch of positions multiplies the rows; YaRN's table is as long as the stretched context.
        """
        fields = self.fields
        positions = fields.number(POSITIONS, 0, 0, LARGEST_COUNT)
        scaling = fields.inner("rope_scaling") or fields.inner("rope_parameters")
        factor, kind = 1.0, "default"
        if scaling is not None:
            kind = scaling.text("rope_type type", "default")
            if kind in ("linear", "yarn", "dynamic"):
                factor = scaling.decimal("factor", 1.0, 0.0, 1e6)
        if kind == "yarn" and scaling is not None:
            positions = scaling.number("original_max_position_embeddings", positions, 0, LARGEST_COUNT)
        found: list[RotaryTable] = []
        for layer in layers:
            for mixer in layer.mixers:
                if not mixer.rotary_dim or not positions:
                    continue
                local = mixer.kind == mx.SLIDING and self.local_rotation()
                rows = positions if local else int(positions * factor)
                name = "window layers" if local else "layers"
                table = RotaryTable(name, rows, mixer.rotary_dim)
                if table not in found:
                    found.append(table)
        return found

    def local_rotation(self) -> bool:
        """Say whether layers with a window rotate in a way of their own."""
        return self.family in ("gemma3_text", "gemma3n_text", "gemma4_text") or self.fields.has("rope_local_base_freq")

    # Layers for several tokens at once

    def extra(self, layers: list[Layer]) -> tuple[list[Layer], list[Tensor]]:
        """Return the layers that predict several tokens at once, and what joins them."""
        count = self.fields.number("num_nextn_predict_layers mtp_num_hidden_layers", 0, 0, MOST_LAYERS)
        if not count or not layers:
            return [], []
        block = Block({"h": self.hidden, "n": count, "V": self.fields.number(VOCABULARY_SIZE)}, "head")
        block.matrix("eh_proj", "h", "2 × h", WHOLE, copies="n", active="n")
        for name in ("enorm", "hnorm", "norm"):
            block.matrix(name, "h", "", WHOLE, copies="n", active="n", part="norms")
        return [layers[-1]] * count, list(block.tensors)

    # All together

    def buffers(self, layers: list[Layer]) -> int:
        """Return values that a checkpoint holds besides the parameters: GPT-2's causal masks."""
        if self.family != "gpt2":
            return 0
        return self.count * self.fields.number(POSITIONS, 0, 0, LARGEST_COUNT) ** 2

    def read(
        self, name: str, towers: tuple[Tensor, ...], quantization: Any, dtype: str, image: tuple[int, int] = (0, 0)
    ) -> Architecture:
        """Return the whole model."""
        layers = self.layers()
        extra_layers, extra = self.extra(layers)
        return Architecture(
            name,
            self.family,
            self.hidden,
            self.fields.number(VOCABULARY_SIZE),
            self.fields.number(POSITIONS, 0, 0, LARGEST_COUNT),
            tuple(layers),
            self.embedding(),
            self.final(),
            self.head(),
            towers,
            tuple(extra_layers),
            tuple(extra),
            self.tied(),
            dtype,
            quantization,
            tuple(self.tables(layers)),
            tuple(self.fields.assumed),
            self.buffers(layers),
            False,
            image[0],
            image[1],
        )


__all__ = ["COLUMNS", "ROWS", "Reader", "switch"]
