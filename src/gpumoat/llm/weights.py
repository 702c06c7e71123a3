"""Bytes of the weights as one rank loads them, tensor by tensor.

What a log calls "model loading took" is reproducible: each tensor as it lies on this rank, in its format and with
its scales, rounded as the caching allocator rounds it, plus the tables of rotary positions.

- Tensor parallelism cuts queries, keys, values, gate and up by outputs, the output matrices by inputs, the embedding
  and the head by vocabulary. A KV head is never cut: with more ranks than KV heads each rank holds one, and some hold
  the same. Norms, routers and the first matrices of latent attention are whole on every rank.
- Pipeline parallelism gives each stage whole layers; the first has the embedding, the last the final norm and the
  head, and a tied model has its embedding on both.
- PyTorch rounds each allocation to 512 bytes; one of 10 MiB or more gets a segment of whole 2 MiB, and what is left of
  it counts as allocated if it is 1 MiB or less (``c10/cuda/CUDACachingAllocator.cpp``).

Promises: exact under these rules, which match the public logs in the cases within 0.15 %. Left out: memory that a
kernel adds when it lays a matrix out its own way.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.llm.architecture import Architecture
from gpumoat.llm.counts import groups
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.ggml_mix import stored_type
from gpumoat.llm.quantization import GGML_BLOCKS, PLAIN, Format, Keeper, Quantization, ggml_bytes, matrix_bytes
from gpumoat.llm.tensors import COLUMNS, KV, PARTS, ROWS, VOCABULARY, Tensor
from gpumoat.llm.terms import Term, exact, sum_formula
from gpumoat.units import MIB

ALLOCATOR = "PyTorch, c10/cuda/CUDACachingAllocator.cpp"
SEGMENT_BYTES = 2 * MIB
WHOLE_SEGMENT_BYTES = 10 * MIB
KEPT_TAIL_BYTES = MIB
ROUND_BYTES = 512


@dataclass(frozen=True)
class Plan:
    """How a model is laid out on cards.

    Attributes:
        tensor: Ranks that cut each matrix.
        pipeline: Stages of layers.
        experts: Ranks that share the experts; 1 where they are cut like other matrices.
        stage: Which stage is looked at, counted from 0.
        fused: Whether the engine allocates queries, keys and values, and gate and up, as one.
        tables: Whether the engine keeps tables of rotary positions.
        vocabulary_multiple: What the engine rounds the vocabulary up to; 1 for nothing.
        extra_layers: Whether layers that predict several tokens at once are loaded.
        rounded: Whether PyTorch's allocator holds them.
    """

    tensor: int = 1
    pipeline: int = 1
    experts: int = 1
    stage: int = 0
    fused: bool = True
    tables: bool = True
    vocabulary_multiple: int = 64
    extra_layers: bool = False
    rounded: bool = True


def allocated_bytes(size_bytes: int) -> int:
    """Return what the caching allocator of PyTorch counts for a request of so many bytes."""
    rounded = -(-size_bytes // ROUND_BYTES) * ROUND_BYTES
    if rounded < WHOLE_SEGMENT_BYTES:
        return rounded
    segment = -(-rounded // SEGMENT_BYTES) * SEGMENT_BYTES
    return segment if segment - rounded <= KEPT_TAIL_BYTES else rounded


def stage_layers(count: int, stages: int) -> list[int]:
    """Return how many layers each pipeline stage has: what is left over goes to the stages before the last.

    Raises:
        ConfigError: There are more stages than layers.
    """
    if not 1 <= stages <= count:
        raise ConfigError(f"pp must be from 1 to the {count} layers, not {stages}")
    shares = [count // stages] * stages
    for number in range(count % stages):
        shares[-(number + 2) if stages > 1 else 0] += 1
    return shares


def on_rank(tensor: Tensor, plan: Plan) -> tuple[int, int, int]:
    """Return rows, columns and copies of a tensor on one rank.

    Raises:
        ConfigError: The tensor cannot be cut into so many pieces.
    """
    rows, columns, copies, ranks = tensor.rows, tensor.columns, tensor.copies, plan.tensor
    if tensor.part == "experts" and plan.experts > 1 and copies > 1:
        return rows, columns, -(-copies // plan.experts)
    if tensor.split == VOCABULARY:
        multiple = plan.vocabulary_multiple
        padded = -(-rows // multiple) * multiple
        return -(-padded // ranks), columns, copies
    if ranks == 1:
        return rows, columns, copies
    if tensor.split == KV:
        return rows // tensor.heads * _kv_heads(tensor.heads, ranks), columns, copies
    if tensor.split == ROWS:
        return _cut(rows, tensor, ranks), columns, copies
    if tensor.split == COLUMNS:
        return rows, _cut(columns, tensor, ranks), copies
    return rows, columns, copies


def _kv_heads(heads: int, ranks: int) -> int:
    """Return the KV heads of one rank: at least one."""
    if heads >= ranks:
        if heads % ranks:
            raise ConfigError(f"tp must divide the {heads} KV heads, or be a multiple of them, not {ranks}")
        return heads // ranks
    return 1


def _cut(size: int, tensor: Tensor, ranks: int) -> int:
    if tensor.heads and tensor.heads % ranks:
        raise ConfigError(f"tp must divide the {tensor.heads} heads of {tensor.module}, not {ranks}")
    return -(-size // ranks)


@dataclass
class _Sum:
    """Values and bytes of one part in one format, and what rounding adds."""

    values: int = 0
    value_bytes: int = 0
    scale_bytes: int = 0


class Loader:
    """Adds up what one rank loads.

    Attributes:
        rounding_bytes: What the allocator's rounding adds.
        sums: Values and bytes by part and format.
    """

    def __init__(self, model: Architecture, plan: Plan, dtype: str, quantization: Quantization) -> None:
        self.model = model
        self.plan = plan
        self.plain = PLAIN[dtype]
        self.quantization = quantization
        self.keeper = Keeper(quantization.kept)
        self.rounding_bytes = 0
        self.sums: dict[tuple[str, str], _Sum] = {}
        self.formats: dict[str, Format] = {}

    def format_of(self, tensor: Tensor, layer: int) -> Format:
        """Return the format in which a tensor is stored."""
        quantized = self.quantization.format
        if quantized is None or not tensor.linear:
            return self.plain
        if self.quantization.expert_only:
            return quantized if tensor.part == "experts" else self.plain
        if tensor.module == "lm_head" and not self.quantization.head:
            return self.plain
        return self.plain if self.keeper.keeps(tensor.module, layer) else quantized

    def kept_key(self, tensors: tuple[Tensor, ...], layer: int) -> str:
        """Return a word that is the same for layers whose tensors are stored alike."""
        if self.quantization.mix:
            return " ".join(stored_type(self.quantization.mix, one, layer, self.model) for one in tensors)
        return "".join("1" if one.linear and self.keeper.keeps(one.module, layer) else "0" for one in tensors)

    def load(self, tensors: tuple[Tensor, ...], layer: int, times: int = 1) -> None:
        """Add a block of tensors, ``times`` over."""
        fused: dict[str, int] = {}
        order: list[str] = []
        for place, tensor in enumerate(tensors):
            rows, columns, copies = on_rank(tensor, self.plan)
            kind = tensor.stored or stored_type(self.quantization.mix, tensor, layer, self.model)
            if kind:
                format, values, scales = _ggml(kind), ggml_bytes(kind, rows * (columns or 1)), 0
            else:
                format = self.format_of(tensor, layer)
                values, scales = matrix_bytes(format, rows, columns)
            self.formats[format.name] = format
            into = self.sums.setdefault((tensor.part, format.name), _Sum())
            into.values += times * rows * (columns or 1) * copies
            into.value_bytes += times * values * copies
            into.scale_bytes += times * scales * copies
            word = tensor.fuse if tensor.fuse and self.plan.fused else f"#{place}"
            for name, size in ((word, values * copies), (word + " scales", scales * copies)):
                if size:
                    if name not in fused:
                        order.append(name)
                    fused[name] = fused.get(name, 0) + size
        for name in order if self.plan.rounded else []:
            self.rounding_bytes += times * (allocated_bytes(fused[name]) - fused[name])

    def terms(self) -> list[Term]:
        """Return what was added as terms."""
        found: list[Term] = []
        for part in PARTS:
            of_part = [(name, self.sums[part, name]) for name in sorted(self.formats) if (part, name) in self.sums]
            if not of_part:
                continue
            letters = []
            numbers = []
            for _, one in of_part:
                letters.append("n × b")
                numbers.append(_as_product(one.values, one.value_bytes))
            size = sum(one.value_bytes for _, one in of_part)
            formula, values = " + ".join(letters), " + ".join(numbers)
            whole = self._whole(part, of_part[0][1]) if len(of_part) == 1 else None
            if whole is not None:
                formula, values = whole
            found.append(exact(f"weights, {part}", "weights", size, formula, values))
        scales = sum(one.scale_bytes for one in self.sums.values())
        if scales:
            found.append(exact("scales of quantised weights", "weights", scales, "n × b", f"{scales:,} × 1"))
        if self.rounding_bytes:
            text = f"{self.rounding_bytes:,} × 1"
            found.append(exact("allocator rounding", "weights", self.rounding_bytes, "n × b", text, ALLOCATOR))
        return found

    def _whole(self, part: str, one: _Sum) -> tuple[str, str] | None:
        """Return the formula of a part that lies whole and plain on this rank, in letters and in numbers."""
        if one.value_bytes % one.values:
            return None
        parts = [(count, [each for each in tensors if each.part == part]) for count, tensors in groups(self.model)]
        if sum(count * each.parameters for count, tensors in parts for each in tensors) != one.values:
            return None
        letters, numbers = sum_formula(parts)
        return f"({letters}) × b", f"({numbers}) × {one.value_bytes // one.values}"


def _ggml(kind: str) -> Format:
    """Return a type of llama.cpp as a format; its bytes are those of whole blocks."""
    block, size = GGML_BLOCKS[kind]
    return Format(kind, size * 8 // block, -1, 0)


def _as_product(values: int, size: int) -> str:
    """Return bytes as values times the bytes of one: whole, or a fraction in lowest terms; or just the bytes."""
    if size % values == 0:
        return f"{values:,} × {size // values}"
    for below in (2, 4, 8, 16, 32, 64, 128, 256):
        if size * below % values == 0:
            return f"{values:,} × {size * below // values} / {below}"
    return f"{size:,} × 1"


def weight_terms(model: Architecture, plan: Plan, dtype: str, quantization: Quantization) -> list[Term]:
    """Return what one rank of a plan loads, as terms whose sum is the bytes allocated.

    Args:
        model: The model.
        plan: How it is laid out, and which rank is looked at.
        dtype: Data type of what is not quantised: ``fp32``, ``fp16`` or ``bf16``.
        quantization: How the rest is stored.

    Raises:
        ConfigError: The model cannot be cut that way.
    """
    if dtype not in PLAIN:
        raise ConfigError(f"dtype must be one of {', '.join(PLAIN)}, not {dtype!r}")
    loader = Loader(model, plan, dtype, quantization)
    shares = stage_layers(len(model.layers), plan.pipeline)
    first = sum(shares[: plan.stage])
    last_stage = plan.stage == plan.pipeline - 1
    if plan.stage == 0 or (last_stage and model.tied):
        loader.load(model.embedding, -1)
    _load_layers(loader, model, first, shares[plan.stage])
    if last_stage:
        loader.load(model.final + model.head, -1)
    if plan.stage == 0:
        loader.load(model.towers, -1)
    if plan.extra_layers and last_stage:
        for layer in model.extra_layers:
            loader.load(layer.tensors, len(model.layers))
        loader.load(model.extra, -1)
    terms = loader.terms()
    if plan.tables:
        terms.extend(table_terms(model, dtype))
    return terms


def _load_layers(loader: Loader, model: Architecture, first: int, count: int) -> None:
    """Add layers, those that are stored alike at once."""
    by_layer = loader.keeper.by_layer or loader.quantization.mix
    often: dict[str, int] = {}
    order = []
    for place in range(first, first + count):
        layer = model.layers[place]
        key = layer.kind + (loader.kept_key(layer.tensors, place) if by_layer else "")
        if key not in often:
            order.append((key, place))
        often[key] = often.get(key, 0) + 1
    for key, place in order:
        loader.load(model.layers[place].tensors, place, often[key])


def table_terms(model: Architecture, dtype: str) -> list[Term]:
    """Return the tables of cosines and sines for rotary positions; they are whole on every rank."""
    each = PLAIN[dtype].bits // 8
    found = []
    for table in model.tables:
        size = table.positions * table.width * each
        extra = allocated_bytes(size) - size
        numbers = f"{table.positions:,} × {table.width:,} × {each}" + (f" + {extra:,}" if extra else "")
        name = f"rotary table, {table.name}"
        found.append(
            exact(
                name,
                "weights",
                size + extra,
                "P × d × b" + (" + n" if extra else ""),
                numbers,
                "vLLM, rotary embedding",
            )
        )
    return found


def weight_bytes(model: Architecture, plan: Plan, dtype: str, quantization: Quantization) -> int:
    """Return the bytes that one rank allocates for weights; see `weight_terms`."""
    return sum(term.size_bytes for term in weight_terms(model, plan, dtype, quantization))


def stored_bytes(model: Architecture, dtype: str, quantization: Quantization) -> int:
    """Return the bytes of the published file's tensors: no fusing, no padding, no rounding, no tables."""
    plan = Plan(fused=False, tables=False, vocabulary_multiple=1, rounded=False)
    return weight_bytes(model, plan, dtype, quantization)
