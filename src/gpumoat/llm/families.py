"""Families that the common reader alone does not read: hybrids, pure state-space models, and layers of several makes.

Each class says only what its family does otherwise; `gpumoat.llm.reading.Reader` does the rest.

Promises and limits as in `gpumoat.llm.reading`.
"""

from __future__ import annotations

from gpumoat.llm import feed_forward as ff
from gpumoat.llm import mixers as mx
from gpumoat.llm.architecture import Layer
from gpumoat.llm.fields import MOST_LAYERS, ConfigError, Fields
from gpumoat.llm.more_families import DeepSeekV4, Encoder, MiMo, Qwen1
from gpumoat.llm.patterns import FULL, MAMBA, SLIDING
from gpumoat.llm.reading import EXPERTS, HEADS, PER_TOKEN, Reader, switch
from gpumoat.llm.tensors import COLUMNS, ROWS, VOCABULARY, WHOLE, Block, Tensor


class StateSpace(Reader):
    """Mamba, Mamba 2 and Falcon-Mamba: a mixer and a norm a layer, no feed-forward block."""

    def layers(self) -> list[Layer]:
        """Return all layers, which are alike."""
        mixer = self.mamba()
        return [Layer(mixer.kind, mixer, ff.NO_FEED_FORWARD, self.norms(0))] * self.count


class OneHalf(Reader):
    """Nemotron-H: a layer is a mixer, a dense block or experts, with one norm."""

    def layer(self, key: str, kind: str, sparse: bool, place: int) -> Layer:
        """Return one layer."""
        norms = self.norms(place)
        if kind == "mlp":
            return Layer("dense", mx.NO_MIXER, self.dense(place), norms)
        if kind == "moe":
            return Layer("experts", mx.NO_MIXER, self.experts(place), norms)
        mixer = self.mixer(kind, place)
        return Layer(mixer.kind, mixer, ff.NO_FEED_FORWARD, norms)

    def layers(self) -> list[Layer]:
        """Return all layers in order; those of one make are one object."""
        from gpumoat.llm.patterns import mixer_kinds

        kinds = mixer_kinds(self.fields, self.count, self.window(), "none", MAMBA)
        made: dict[str, Layer] = {}
        for place, kind in enumerate(kinds):
            if kind not in made:
                made[kind] = self.layer(kind, kind, kind == "moe", place)
        return [made[kind] for kind in kinds]

    def experts(self, place: int) -> ff.FeedForward:
        """Return experts, which may work in a narrower space, and a shared expert of a width of its own."""
        fields = self.fields
        count = fields.number(EXPERTS)
        shared = fields.number("moe_shared_expert_intermediate_size", 0, 0)
        bias = switch(fields, self.traits.mlp_bias)
        return ff.experts(
            self.hidden,
            count,
            fields.number(PER_TOKEN, most=count),
            fields.number("moe_intermediate_size intermediate_size"),
            False,
            bias,
            switch(fields, self.traits.router_bias),
            shared if fields.number("n_shared_experts", 1, 0) else 0,
            inner=fields.number("moe_latent_size", 0, 0),
            shared_bias=bias,
        )


class SideBySide(Reader):
    """Falcon-H1: attention and Mamba 2 in every layer, side by side."""

    def recurrent(self) -> str:
        """Return what a recurrent layer is: here it stands beside attention."""
        return FULL

    def layer(self, key: str, kind: str, sparse: bool, place: int) -> Layer:
        """Return one layer."""
        return Layer(key, self.attention(FULL, place), self.dense(place), self.norms(place), self.mamba())

    def layers(self) -> list[Layer]:
        """Return all layers, which are alike."""
        return [self.layer("attention beside Mamba 2", FULL, False, 0)] * self.count


class GraniteHybrid(Reader):
    """Granite 4: Mamba 2 and attention, with a shared block in every layer and experts if there are any."""

    def dense(self, place: int) -> ff.FeedForward:
        """Return the shared block, which is all where there are no experts."""
        return ff.dense(self.hidden, self.fields.number("shared_intermediate_size intermediate_size"))


class Convolutions(Reader):
    """LFM2: short convolutions and attention; the width in the file may be one before rounding."""

    def width(self, place: int) -> int:
        """Return the width of a dense block as the class rounds it."""
        fields = self.fields
        width = fields.number("block_ff_dim intermediate_size")
        if not fields.flag("block_auto_adjust_ff_dim", self.family == "lfm2"):
            return width
        share = fields.decimal("block_ffn_dim_multiplier", 1.0, 0.0, 100.0)
        multiple = fields.number("block_multiple_of", 256)
        return -(-int(share * (2 * width // 3)) // multiple) * multiple

    def mixer(self, kind: str, place: int) -> mx.Mixer:
        """Return the mixer of a layer: what is no attention is a short convolution."""
        return self.attention(kind, place) if kind == FULL else self.convolution()


class SharedIndex(Reader):
    """GLM-5: some layers use the sparse-attention index of an earlier layer."""

    def _said(self, place: int) -> str:
        fields = self.fields
        words = fields.items("indexer_types") or []
        if not words:
            every = fields.number("index_topk_freq", 1, 1, MOST_LAYERS)
            skipped = fields.number("index_skip_topk_offset", 2, 0, MOST_LAYERS)
            return "shared" if max(place - skipped + 1, 0) % every else "full"
        return str(words[place]) if place < len(words) else "full"

    def key(self, kind: str, sparse: bool, place: int) -> str:
        """Return a word that is the same for layers of the same make."""
        return super().key(kind, sparse, place) + (", shared index" if self._said(place) == "shared" else "")

    def attention(self, kind: str, place: int) -> mx.Mixer:
        """Return the attention of a layer."""
        return self._latent(self._said(place) != "shared")


class KimiLinear(Reader):
    """Kimi Linear: delta attention with a gate a channel, and latent attention without rotation."""

    def recurrent(self) -> str:
        """Return what a recurrent layer is."""
        return "linear"

    def delta_rule(self) -> mx.Mixer:
        """Return a layer of Kimi delta attention."""
        fields = self.fields
        heads = fields.number("linear_num_heads", 32)
        size = fields.number("linear_head_dim", 128)
        kernel = fields.number("linear_conv_kernel_dim", 4)
        inner = fields.inner("linear_attn_config")
        if inner is not None:
            heads = inner.number("num_heads", heads)
            size = inner.number("head_dim", size)
            kernel = inner.number("short_conv_kernel_size", kernel)
        block = Block({"h": self.hidden, "nk": heads, "dk": size, "K": kernel}, "state space")
        for name in "qkv":
            block.matrix(f"self_attn.{name}_proj", "nk × dk", "h", ROWS, "qkv", False, heads)
        block.matrix("self_attn.conv1d", "3 × nk × dk", "K", ROWS, "", False, heads, linear=False)
        for name in "fg":
            block.matrix(f"self_attn.{name}_a_proj", "dk", "h")
            block.matrix(f"self_attn.{name}_b_proj", "nk × dk", "dk", ROWS, "", False, heads)
        block.matrix("self_attn.b_proj", "nk", "h", ROWS, "", False, heads)
        block.vector("self_attn.A_log", "nk", split=ROWS, heads=heads)
        block.vector("self_attn.dt_bias", "nk × dk", split=ROWS, heads=heads)
        block.vector("self_attn.o_norm", "dk", "norms")
        block.matrix("self_attn.o_proj", "h", "nk × dk", COLUMNS, "", False, heads)
        return mx.Mixer(
            mx.DELTA,
            tuple(block.tensors),
            heads=heads,
            convolution=3 * heads * size,
            kernel=kernel,
            state=heads * size * size,
        )


class Llama4(Reader):
    """Llama 4: experts of one width, dense layers of another, windows in chunks."""

    def width(self, place: int) -> int:
        """Return the width of a dense layer."""
        return self.fields.number("intermediate_size_mlp intermediate_size")

    def qk_norm(self) -> str:
        """Return how queries and keys are normed: without learned gains."""
        return ""


class NeuralSearch(Reader):
    """Nemotron NAS: every layer as the search made it, with attention or without, and a width of its own."""

    def _count(self) -> int:
        return super()._count()

    def layers(self) -> list[Layer]:
        """Return all layers in order; those of one make are one object."""
        blocks = self.fields.items("block_configs")
        if blocks is None:
            raise ConfigError(f"{self.fields.where}block_configs is missing: it must be a list of {self.count} objects")
        if len(blocks) < self.count:
            raise ConfigError(f"{self.fields.where}block_configs has {len(blocks)} layers, but there are {self.count}")
        made: dict[str, Layer] = {}
        found = []
        for place in range(self.count):
            if not isinstance(blocks[place], dict):
                raise ConfigError(f"{self.fields.where}block_configs[{place}] must be an object")
            block = Fields(blocks[place], {}, self.fields.assumed, f"block_configs[{place}].")
            layer = self._block(block)
            found.append(made.setdefault(layer.kind, layer))
        return found

    def _block(self, block: Fields) -> Layer:
        norms = Block({"h": self.hidden}, "norms")
        mixer, kind = self._attention(block.inner("attention"))
        if mixer.tensors:
            norms.vector("input_layernorm", "h")
        feed, width = self._feed_forward(block.inner("ffn"))
        if feed.tensors:
            norms.vector("post_attention_layernorm", "h")
        return Layer(f"{kind}, {width}", mixer, feed, tuple(norms.tensors))

    def _attention(self, said: Fields | None) -> tuple[mx.Mixer, str]:
        if said is None or said.flag("no_op"):
            return mx.NO_MIXER, "no attention"
        if said.flag("replace_with_linear"):
            block = Block({"h": self.hidden}, "attention")
            block.matrix("self_attn.linear_attn", "h", "h", ROWS)
            return mx.Mixer(mx.NONE, tuple(block.tensors)), "a matrix for attention"
        heads = self.fields.number(HEADS)
        group = said.number("n_heads_in_group", heads // self.fields.number("num_key_value_heads", heads) or 1)
        if heads % group:
            raise ConfigError(f"{said.where}n_heads_in_group must divide {heads} heads, not {group}")
        size = self._head_dim(heads)
        window = said.number("window_length", 0, 0)
        kind = mx.SLIDING if window else mx.FULL
        mixer = mx.attention(self.hidden, heads, heads // group, size, kind, window, rotary_dim=size)
        return mixer, f"attention with {heads // group} KV heads"

    def _feed_forward(self, said: Fields | None) -> tuple[ff.FeedForward, str]:
        if said is None or said.flag("no_op"):
            return ff.NO_FEED_FORWARD, "no feed-forward block"
        if said.flag("replace_with_linear"):
            block = Block({"h": self.hidden}, "feed-forward")
            block.matrix("mlp.linear_mlp", "h", "h", ROWS)
            return ff.FeedForward(ff.DENSE, tuple(block.tensors)), "a matrix for the feed-forward block"
        if said.find("intermediate_size")[1] is not None:
            width = said.number("intermediate_size")
        else:
            ratio = said.decimal("ffn_mult", 0.0, 0.0, 1000)
            if not ratio:
                raise ConfigError(f"{said.where}ffn_mult is missing: it must be a number above 0")
            width = -(-int(2 * ratio * self.hidden / 3) // 256) * 256
        return ff.dense(self.hidden, width), f"width {width:,}"


class Gemma4(Reader):
    """Gemma 4: heads of another size in full layers, keys as values, shared caches, inputs for each layer."""

    def _shared(self, place: int) -> bool:
        return place >= self.count - self.fields.number("num_kv_shared_layers", 0, 0, self.count)

    def key(self, kind: str, sparse: bool, place: int) -> str:
        """Return a word that is the same for layers of the same make."""
        kind = FULL if place == self.count - 1 else kind
        sparse = self.fields.flag("enable_moe_block")
        return super().key(kind, sparse, place) + (", reads an earlier cache" if self._shared(place) else "")

    def attention(self, kind: str, place: int) -> mx.Mixer:
        """Return the attention of a layer."""
        fields = self.fields
        kind = FULL if place == self.count - 1 else kind
        heads, kv_heads, head_dim = self.heads()
        same = False
        if kind == FULL:
            head_dim = fields.number("global_head_dim", 512)
            same = fields.flag("attention_k_eq_v")
            if same:
                kv_heads = fields.number("num_global_key_value_heads", kv_heads)
        bias = fields.flag("attention_bias")
        return mx.attention(
            self.hidden,
            heads,
            kv_heads,
            head_dim,
            mx.FULL if kind == FULL else mx.SLIDING,
            0 if kind == FULL else self.window(),
            bias,
            bias,
            "head",
            keys_are_values=same,
            owns_cache=not self._shared(place),
            rotary_dim=head_dim,
        )

    def has_experts(self) -> bool:
        """Say whether the model has experts: they run beside the dense block of every layer."""
        return self.fields.flag("enable_moe_block")

    def width(self, place: int) -> int:
        """Return the width of the dense block: twice as wide where the cache is shared, if the config says so."""
        wide = self._shared(place) and self.fields.flag("use_double_wide_mlp")
        return super().width(place) * (2 if wide else 1)

    def experts(self, place: int) -> ff.FeedForward:
        """Return experts and the dense block beside them."""
        fields = self.fields
        count = fields.number("num_experts")
        return ff.experts(
            self.hidden,
            count,
            fields.number("top_k_experts num_experts_per_tok", most=count),
            fields.number("moe_intermediate_size"),
            True,
            False,
            True,
            dense_width=self.width(place),
        )

    def norms(self, place: int) -> tuple[Tensor, ...]:
        """Return the norms of a layer, and the matrices that mix in its own input."""
        size = self._inputs()
        block = Block({"h": self.hidden, "p": size}, "norms")
        extra = 4 if self.has_experts() else 0  # three norms and the router's scale
        for number in range(4 + extra):
            block.vector(f"norm_{number + 1}", "h")
        if size:
            block.matrix("per_layer_input_gate", "p", "h", part="feed-forward")
            block.matrix("per_layer_projection", "h", "p", part="feed-forward")
            block.vector("post_per_layer_input_norm", "h")
        return tuple(block.tensors)

    def _inputs(self) -> int:
        default = 0 if "hidden_size_per_layer_input" in self.fields.data else 256
        return self.fields.number("hidden_size_per_layer_input", default, 0)

    def embedding(self) -> tuple[Tensor, ...]:
        """Return the token embedding, and the embedding that gives each layer an input of its own."""
        size = self._inputs()
        if not size:
            return super().embedding()
        vocabulary = self.fields.number("vocab_size_per_layer_input vocab_size")
        block = Block({"W": vocabulary, "L": self.count, "p": size, "h": self.hidden}, "embedding")
        block.matrix("embed_tokens_per_layer", "W", "L × p", VOCABULARY, linear=False)
        block.matrix("per_layer_model_projection", "L × p", "h", WHOLE)
        block.vector("per_layer_projection_norm", "p", "norms")
        return super().embedding() + tuple(block.tensors)


class Gemma3n(Gemma4):
    """Gemma 3n: inputs for each layer, shared caches, several streams (AltUp) and a low-rank shortcut (Laurel)."""

    def key(self, kind: str, sparse: bool, place: int) -> str:
        """Return a word that is the same for layers of the same make."""
        return Reader.key(self, kind, False, place) + (", reads an earlier cache" if self._shared(place) else "")

    def _shared(self, place: int) -> bool:
        return place >= self.count - self.fields.number("num_kv_shared_layers", 15, 0, MOST_LAYERS)

    def has_experts(self) -> bool:
        """Say whether the model has experts: none."""
        return False

    def attention(self, kind: str, place: int) -> mx.Mixer:
        """Return the attention of a layer."""
        heads, kv_heads, size = self.heads()
        window = self.window() if kind == SLIDING else 0
        return mx.attention(
            self.hidden,
            heads,
            kv_heads,
            size,
            mx.SLIDING if kind == SLIDING else mx.FULL,
            window,
            qk_norm="head",
            owns_cache=not self._shared(place),
            rotary_dim=size,
        )

    def _streams(self) -> dict[str, int]:
        fields = self.fields
        streams = fields.number("altup_num_inputs", 4, 1, 64)
        rank = fields.number("laurel_rank", 64)
        return {"h": self.hidden, "n": streams, "r": rank, "p": self._inputs(), "n1": streams - 1}

    def norms(self, place: int) -> tuple[Tensor, ...]:
        """Return the norms of a layer and what mixes its streams."""
        block = Block(self._streams(), "feed-forward")
        block.vector("altup.correct_output_scale", "h")
        block.matrix("altup.correction_coefs", "n", "n", linear=False)
        block.matrix("altup.prediction_coefs", "n × n", "n", linear=False)
        block.matrix("altup.modality_router", "n", "h", linear=False)
        block.vector("altup.router_norm", "h", "norms")
        block.matrix("laurel.linear_left", "r", "h")
        block.matrix("laurel.linear_right", "h", "r")
        block.vector("laurel.post_laurel_norm", "h", "norms")
        return super().norms(place) + tuple(block.tensors)

    def embedding(self) -> tuple[Tensor, ...]:
        """Return the embeddings and the matrices that make and join the streams."""
        block = Block(self._streams(), "embedding")
        block.matrix("altup_projections", "h", "h", copies="n1", active="n1")
        block.matrix("altup_unembed_projections", "h", "h", copies="n1", active="n1")
        return super().embedding() + tuple(block.tensors)


READERS = {
    "deepseek_v4": DeepSeekV4,
    "mimo_v2_flash": MiMo,
    "qwen": Qwen1,
    "bert": Encoder,
    "roberta": Encoder,
    "xlm-roberta": Encoder,
    "mamba": StateSpace,
    "mamba2": StateSpace,
    "falcon_mamba": StateSpace,
    "nemotron_h": OneHalf,
    "falcon_h1": SideBySide,
    "granitemoehybrid": GraniteHybrid,
    "kimi_linear": KimiLinear,
    "lfm2": Convolutions,
    "lfm2_moe": Convolutions,
    "glm_moe_dsa": SharedIndex,
    "llama4_text": Llama4,
    "nemotron-nas": NeuralSearch,
    "deci": NeuralSearch,
    "gemma4_text": Gemma4,
    "gemma3n_text": Gemma3n,
}
"""Readers of families that need one of their own."""


def reader(fields: Fields, family: str) -> Reader:
    """Return the reader of a family."""
    return READERS.get(family, Reader)(fields, family)
