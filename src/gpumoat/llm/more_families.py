"""More families with a reader of their own: compressed attention, values of another size, encoders.

Promises and limits as in `gpumoat.llm.reading`.
"""

from __future__ import annotations

from gpumoat.llm import feed_forward as ff
from gpumoat.llm import mixers as mx
from gpumoat.llm.architecture import Architecture, Layer
from gpumoat.llm.fields import LARGEST_COUNT, MOST_LAYERS, ConfigError
from gpumoat.llm.reading import HEADS, VOCABULARY_SIZE, Reader
from gpumoat.llm.tensors import COLUMNS, ROWS, VOCABULARY, WHOLE, Block, Tensor


class Qwen1(Reader):
    """The first Qwen: the file's width is that of gate and up together, and there are no groups of heads."""

    def width(self, place: int) -> int:
        """Return the width of the dense block: half of what the file says."""
        return max(1, self.fields.number("intermediate_size") // 2)


class MiMo(Reader):
    """MiMo-V2: layers with a window have other KV heads and sinks; values are shorter than keys."""

    def key(self, kind: str, sparse: bool, place: int) -> str:
        """Return a word that is the same for layers of the same make."""
        return super().key("sliding" if self._windowed(place) else "full", sparse, place)

    def _windowed(self, place: int) -> bool:
        flags = self.fields.numbers("hybrid_layer_pattern", 0, 1)
        if flags is not None:
            return place < len(flags) and flags[place] == 1
        words = self.fields.items("layer_types") or []
        return place < len(words) and words[place] == "sliding_attention"

    def attention(self, kind: str, place: int) -> mx.Mixer:
        """Return the attention of a layer."""
        fields = self.fields
        windowed = self._windowed(place)
        start = "swa_" if windowed else ""
        heads = fields.number(f"{start}num_attention_heads num_attention_heads")
        usual = fields.number("num_key_value_heads")
        kv_heads = fields.number("swa_num_key_value_heads", 2 * usual) if windowed else usual
        if heads % kv_heads:
            raise ConfigError(f"{fields.where}num_attention_heads must be a multiple of the {kv_heads} KV heads")
        size = fields.number(f"{start}head_dim head_dim")
        return mx.attention(
            self.hidden,
            heads,
            kv_heads,
            size,
            mx.SLIDING if windowed else mx.FULL,
            self.window() if windowed else 0,
            fields.flag("attention_bias"),
            sinks=windowed and fields.flag("add_swa_attention_sink_bias", True),
            rotary_dim=self.rotary_dim(size),
            value_dim=fields.number(f"{start}v_head_dim v_head_dim"),
        )


class DeepSeekV4(Reader):
    """DeepSeek-V4: one vector for keys and values, kept in a window and, compressed, for the whole context.

    A layer keeps the vectors of a short window, and in layers that compress one more vector for every 4 or 128 tokens;
    those of 4 tokens have an index of their own. The output goes through groups of heads; the residual is in streams.
    """

    def _rate(self, place: int) -> int:
        """Return how many tokens share a vector in a layer; 0 for a window alone."""
        fields = self.fields
        rates = fields.numbers("compress_ratios", 0, 2**20)
        if rates is not None:
            if place >= len(rates):
                raise ConfigError(
                    f"{fields.where}compress_ratios has {len(rates)} entries, but there is a layer {place}"
                )
            return rates[place]
        words = fields.items("layer_types")
        if words is not None and place < len(words):
            known = {"sliding_attention": 0, "compressed_sparse_attention": 4, "heavily_compressed_attention": 128}
            if words[place] not in known:
                raise ConfigError(f"{fields.where}layer_types has a kind of layer that is not known")
            return known[words[place]]
        return 128 if place < 2 or place % 2 == 0 else 4

    def layers(self) -> list[Layer]:
        """Return all layers in order; those of one make are one object."""
        made: dict[str, Layer] = {}
        found = []
        hashed = self.fields.number("num_hash_layers", 3, 0, MOST_LAYERS)
        for place in range(self.count):
            rate = self._rate(place)
            key = f"one vector in {rate} tokens" if rate else "window alone"
            key += ", hashed experts" if place < hashed else ", experts"
            if key not in made:
                made[key] = Layer(key, self._attention(rate), self._experts(place >= hashed), self._around())
            found.append(made[key])
        return found

    def _attention(self, rate: int) -> mx.Mixer:
        fields = self.fields
        heads = fields.number(HEADS)
        size = fields.number("head_dim")
        groups = fields.number("o_groups", 8, 1, heads)
        if heads % groups:
            raise ConfigError(f"{fields.where}o_groups must divide the {heads} heads, not {groups}")
        symbols = {
            "h": self.hidden,
            "a": heads,
            "d": size,
            "rq": fields.number("q_lora_rank"),
            "ro": fields.number("o_lora_rank"),
            "G": groups,
            "c": heads * size // groups,
            "r": rate,
            "ni": fields.number("index_n_heads", 64),
            "di": fields.number("index_head_dim", 128),
        }
        block = Block(symbols, "attention")
        block.matrix("self_attn.q_a_proj", "rq", "h")
        block.vector("self_attn.q_a_norm", "rq", "norms")
        block.matrix("self_attn.q_b_proj", "a × d", "rq", ROWS, "", False, heads)
        block.matrix("self_attn.kv_proj", "d", "h")
        block.vector("self_attn.kv_norm", "d", "norms")
        block.matrix("self_attn.o_a_proj", "G × ro", "c", ROWS, "", False, groups)
        block.matrix("self_attn.o_b_proj", "h", "G × ro", COLUMNS, "", False, groups)
        block.vector("self_attn.sinks", "a", split=ROWS, heads=heads)
        indexed = rate == 4
        if rate:
            _compressor(block, "self_attn.compressor", "2 × d" if indexed else "d", "d")
        if indexed:
            _compressor(block, "self_attn.indexer", "2 × di", "di")
            block.matrix("self_attn.indexer.q_b_proj", "ni × di", "rq")
            block.matrix("self_attn.indexer.weights_proj", "ni", "h")
        window = self.window() or 128
        rotary = fields.number("qk_rope_head_dim", 64, 0)
        tensors = tuple(block.tensors)
        if not rate:
            return mx.Mixer(mx.SLIDING, tensors, heads, 1, size, 0, window=window, rotary_dim=rotary, query_dim=size)
        return mx.Mixer(
            mx.COMPRESSED,
            tensors,
            heads,
            1,
            size,
            0,
            size,
            symbols["di"] if indexed else 0,
            convolution=size,
            kernel=min(window, 2**20) + 1,
            rotary_dim=rotary,
            query_dim=size,
            every=rate,
        )

    def _experts(self, learned: bool) -> ff.FeedForward:
        fields = self.fields
        count = fields.number("n_routed_experts num_local_experts")
        width = fields.number("moe_intermediate_size")
        shared = fields.number("n_shared_experts", 1, 0) * width
        per_token = fields.number("num_experts_per_tok", most=count)
        return ff.experts(self.hidden, count, per_token, width, router_bias=learned, shared_width=shared)

    def _streams(self) -> Block:
        return Block({"h": self.hidden, "n": self.fields.number("hc_mult", 4, 1, 64)}, "attention")

    def _around(self) -> tuple[Tensor, ...]:
        """Return two norms, and what mixes the streams of the residual before and after each half."""
        block = self._streams()
        for name in ("attn_hc", "ffn_hc"):
            block.matrix(f"{name}.fn", "2 × n + n × n", "n × h", WHOLE, linear=False)
            block.vector(f"{name}.base", "2 × n + n × n")
            block.vector(f"{name}.scale", "3")
        block.vector("norms", "2 × h", "norms")
        return tuple(block.tensors)

    def final(self) -> tuple[Tensor, ...]:
        """Return the norm after the last layer and what joins the streams."""
        block = self._streams()
        block.vector("norm", "h", "norms")
        block.matrix("hc_head.hc_fn", "n", "n × h", WHOLE, linear=False)
        block.vector("hc_head.hc_base", "n + 1")
        return tuple(block.tensors)

    def key(self, kind: str, sparse: bool, place: int) -> str:
        """Return a word that is the same for layers of the same make."""
        return f"{self._rate(place)}"


def _compressor(block: Block, module: str, wide: str, size: str) -> None:
    """Add what makes one vector of several tokens: two matrices, a position in the group, and a norm."""
    block.matrix(f"{module}.kv_proj", wide, "h")
    block.matrix(f"{module}.gate_proj", wide, "h")
    block.matrix(f"{module}.position_bias", "r", wide, WHOLE, linear=False)
    block.vector(f"{module}.kv_norm", size, "norms")


class Encoder(Reader):
    """BERT and RoBERTa: tables of words, positions and parts, and a head by the class that the file names."""

    def norms(self, place: int) -> tuple[Tensor, ...]:
        """Return the two norms of a layer."""
        block = Block({"h": self.hidden}, "norms")
        block.vector("norms", "4 × h")
        return tuple(block.tensors)

    def rotary_dim(self, head_dim: int) -> int:
        """Return how many values rotate: none."""
        return 0

    def embedding(self) -> tuple[Tensor, ...]:
        """Return the tables of words, positions and parts, and their norm."""
        fields = self.fields
        symbols = {
            "V": fields.number(VOCABULARY_SIZE),
            "P": fields.number("max_position_embeddings", most=LARGEST_COUNT),
            "T": fields.number("type_vocab_size", 2, 0),
            "h": self.hidden,
        }
        block = Block(symbols, "embedding")
        block.matrix("word_embeddings", "V", "h", VOCABULARY, linear=False)
        block.matrix("position_embeddings", "P", "h", WHOLE, linear=False)
        block.matrix("token_type_embeddings", "T", "h", WHOLE, linear=False)
        block.vector("LayerNorm", "2 × h", "norms")
        return tuple(block.tensors)

    def final(self) -> tuple[Tensor, ...]:
        """Return nothing: the last layer ends with its own norm."""
        return ()

    def head(self) -> tuple[Tensor, ...]:
        """Return the head of the class that the file names: two matrices for a classifier, else one that pools."""
        named = self.fields.items("architectures") or [""]
        block = Block({"h": self.hidden, "c": self._labels()}, "head")
        block.matrix("pooler.dense", "h", "h", bias=True)
        if "SequenceClassification" in str(named[0]):
            block.matrix("classifier", "c", "h", bias=True)
        return tuple(block.tensors)

    def _labels(self) -> int:
        names = self.fields.data.get("id2label")
        return max(1, len(names)) if isinstance(names, dict) else self.fields.number("num_labels", 2)

    def read(
        self, name: str, towers: tuple[Tensor, ...], quantization: object, dtype: str, image: tuple[int, int] = (0, 0)
    ) -> Architecture:
        """Return the whole model, which keeps no cache."""
        made = super().read(name, towers, quantization, dtype, image)
        return Architecture(
            made.name,
            made.model_type,
            made.hidden,
            made.vocabulary,
            made.positions,
            made.layers,
            made.embedding,
            made.final,
            made.head,
            made.towers,
            (),
            (),
            True,
            made.dtype,
            made.quantization,
            (),
            made.assumed,
            0,
            True,
        )
