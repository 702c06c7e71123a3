"""The header of a GGUF file: what it says of the model, and each tensor with its type and shape.

Only the header is read, however large the file. A quantised file says exactly what every tensor takes, so no rule of a
mix is needed. Format: ``docs/gguf.md`` of the ggml project, versions 2 and 3.

Promises: a `ConfigError` for whatever is no such header, and no endless or huge reading: counts and lengths are
bounded. Left out: files in several pieces (each piece is read alone), and big-endian files.
"""

from __future__ import annotations

from typing import Any, BinaryIO

from gpumoat.llm import feed_forward as ff
from gpumoat.llm import mixers as mx
from gpumoat.llm.architecture import Architecture, Layer
from gpumoat.llm.fields import LARGEST_COUNT, MOST_LAYERS, ConfigError, Fields
from gpumoat.llm.quantization import GGML_BLOCKS
from gpumoat.llm.tensors import COLUMNS, KV, ROWS, VOCABULARY, WHOLE, Tensor

MOST_ENTRIES = 2**20
"""The most entries and tensors that are believed."""
LONGEST_TEXT = 2**24
"""The longest text that is believed."""
MOST_ITEMS = 2**24
"""The most items of a list that are believed; a vocabulary has a few hundred thousand."""

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value of each plain type."""
SIGNED = (1, 3, 5, 11)
FLOATS = (6, 12)
TEXT, LIST, TRUTH = 8, 9, 7

TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    9: "Q8_1",
    10: "Q2_K",
    11: "Q3_K",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    15: "Q8_K",
    16: "IQ2_XXS",
    17: "IQ2_XS",
    18: "IQ3_XXS",
    19: "IQ1_S",
    20: "IQ4_NL",
    21: "IQ3_S",
    22: "IQ2_S",
    23: "IQ4_XS",
    24: "I8",
    25: "I16",
    26: "I32",
    27: "I64",
    28: "F64",
    29: "IQ1_M",
    30: "BF16",
    34: "TQ1_0",
    35: "TQ2_0",
    39: "MXFP4",
}
"""Types of tensors by their number in the file."""

WINDOW_PATTERNS = {"gemma2": 2, "gemma3": 6, "gpt-oss": 2, "cohere2": 4, "llama4": 4, "gemma3n": 5}
"""Every how manieth layer sees everything, in families whose files name a window and no pattern."""


class _Header:
    """Reads values one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def take(self, size: int) -> bytes:
        found = self.file.read(size)
        if len(found) != size:
            raise ConfigError("the GGUF header ends too early: the file is cut off")
        return found

    def whole(self, size: int, signed: bool = False) -> int:
        value = int.from_bytes(self.take(size), "little")
        return value - 2 ** (8 * size) if signed and value >= 2 ** (8 * size - 1) else value

    def bounded(self, most: int, what: str) -> int:
        value = self.whole(8)
        if value > most:
            raise ConfigError(f"the GGUF header has {what} of {value}, which cannot be")
        return value

    def text(self) -> str:
        return self.take(self.bounded(LONGEST_TEXT, "a text")).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind == TEXT:
            return self.text()
        if kind == LIST:
            return self._list(depth)
        if kind not in SIZES:
            raise ConfigError(f"the GGUF header has a value of type {kind}, which is not known")
        raw = self.take(SIZES[kind])
        if kind in FLOATS:
            import struct

            return struct.unpack("<f" if kind == 6 else "<d", raw)[0]
        if kind == TRUTH:
            return raw != b"\0"
        value = int.from_bytes(raw, "little")
        size = SIZES[kind]
        return value - 2 ** (8 * size) if kind in SIGNED and value >= 2 ** (8 * size - 1) else value

    def _list(self, depth: int) -> Any:
        """Return a short list of numbers; of a long one, or one of texts, only its length."""
        kind = self.whole(4)
        count = self.bounded(MOST_ITEMS, "a list")
        if kind == LIST and depth > 2:
            raise ConfigError("the GGUF header is nested too deeply")
        if kind in SIZES and count > MOST_LAYERS:
            self.take(SIZES[kind] * count)
            return count
        found = [self.value(kind, depth + 1) for _ in range(count)]
        return count if kind == TEXT else found


def read_header(file: BinaryIO) -> tuple[dict[str, Any], list[tuple[str, list[int], str]]]:
    """Return the entries of a GGUF header, and each tensor's name, dimensions (inputs first) and type.

    Raises:
        ConfigError: It is no GGUF header of a version that is known.
    """
    header = _Header(file)
    if header.take(4) != b"GGUF":
        raise ConfigError("the file is no GGUF file")
    version = header.whole(4)
    if version not in (2, 3):
        raise ConfigError(f"GGUF version {version} is not read: 2 and 3 are")
    tensors = header.bounded(MOST_ENTRIES, "a count of tensors")
    entries = header.bounded(MOST_ENTRIES, "a count of entries")
    said: dict[str, Any] = {}
    for _ in range(entries):
        key = header.text()
        said[key] = header.value(header.whole(4))
    found = []
    for _ in range(tensors):
        name = header.text()
        rank = header.whole(4)
        if rank > 4:
            raise ConfigError(f"tensor {name[:40]!r} has {rank} dimensions: at most 4 are possible")
        shape = [header.bounded(LARGEST_COUNT, "a dimension") for _ in range(rank)]
        kind = header.whole(4)
        if kind not in TYPES:
            raise ConfigError(f"tensor {name[:40]!r} has a type of number {kind}, which is not known")
        header.take(8)
        found.append((name, shape, TYPES[kind]))
    return said, found


def read_gguf(file: BinaryIO, name: str) -> Architecture:
    """Return the architecture that a GGUF header describes, with every tensor's own type.

    Raises:
        ConfigError: The header cannot be read, or lacks what decides the cache.
    """
    said, tensors = read_header(file)
    family = said.get("general.architecture")
    if not isinstance(family, str):
        raise ConfigError("the GGUF header has no general.architecture")
    start = family + "."
    fields = Fields({key[len(start) :]: said[key] for key in said if key.startswith(start)}, where=start)
    count = fields.number("block_count", most=MOST_LAYERS)
    hidden = fields.number("embedding_length")
    outside: dict[str, list[Tensor]] = {"embedding": [], "norms": [], "head": []}
    inside: list[list[Tensor]] = [[] for _ in range(count)]
    vocabulary = 0
    for tensor_name, shape, kind in tensors:
        made, place = _tensor(tensor_name, shape, kind, count)
        if place >= 0:
            inside[place].append(made)
        else:
            outside[made.part if made.part in outside else "norms"].append(made)
        if tensor_name == "token_embd.weight":
            vocabulary = made.rows
    layers = [_layer(fields, family, place, inside[place]) for place in range(count)]
    return Architecture(
        str(said.get("general.name") or name),
        family,
        hidden,
        vocabulary or fields.number("vocab_size", 1),
        fields.number("context_length", 0, 0, LARGEST_COUNT),
        tuple(_share(layers)),
        tuple(outside["embedding"]),
        tuple(outside["norms"]),
        tuple(outside["head"]),
        (),
        (),
        (),
        not outside["head"],
        "fp16",
        {},
        (),
        tuple(fields.assumed),
    )


def _tensor(name: str, shape: list[int], kind: str, count: int) -> tuple[Tensor, int]:
    """Return a tensor of the file, and its layer; -1 for none."""
    words = name.split(".")
    place = -1
    if words[0] == "blk" and len(words) > 2 and words[1].isdigit() and int(words[1]) < count:
        place = int(words[1])
    inner = ".".join(words[2:]) if place >= 0 else name
    columns = shape[0] if len(shape) > 1 else 0
    rows = shape[1] if len(shape) > 1 else (shape[0] if shape else 1)
    copies = 1
    for size in shape[2:]:
        copies *= size
    numbers = " × ".join(f"{size:,}" for size in reversed(shape)) or "1"
    part, split = _part(inner)
    return Tensor(
        inner, part, rows, columns, copies, copies, numbers, numbers, numbers, numbers, split, 0, "", False, kind
    ), place


def _part(inner: str) -> tuple[str, str]:
    """Return what a tensor is counted under, and how it is cut, by its name."""
    if inner.startswith(("token_embd", "position_embd", "per_layer_token_embd")):
        return "embedding", VOCABULARY
    if inner.startswith("output.") or inner == "output":
        return "head", VOCABULARY
    if "norm" in inner:
        return "norms", WHOLE
    if inner.startswith("ffn_gate_inp"):
        return "router", WHOLE
    if "_shexp" in inner:
        return "shared experts", COLUMNS if "down" in inner else ROWS
    if "_exps" in inner:
        return "experts", COLUMNS if "down" in inner else ROWS
    if inner.startswith("ffn_"):
        return "feed-forward", COLUMNS if "down" in inner else ROWS
    if inner.startswith("ssm_"):
        return "state space", ROWS
    if inner.startswith("attn_"):
        return "attention", COLUMNS if "output" in inner else (KV if inner.startswith(("attn_k.", "attn_v.")) else ROWS)
    return "norms", WHOLE


def _number_of(fields: Fields, name: str, place: int, default: int | None = None) -> int:
    """Return a number that a header may give once or for each layer."""
    value = fields.data.get(name)
    if isinstance(value, list):
        if place >= len(value):
            raise ConfigError(f"{fields.where}{name} has {len(value)} entries, but there is a layer {place}")
        return fields.check(f"{name}[{place}]", value[place], 0)
    return fields.number(name, default, 0)


def _layer(fields: Fields, family: str, place: int, tensors: list[Tensor]) -> Layer:
    """Return one layer: its tensors as in the file, and what it keeps of a token."""
    names = [tensor.module for tensor in tensors]
    of_mixer = tuple(one for one in tensors if one.part in ("attention", "state space"))
    rest = tuple(one for one in tensors if one.part not in ("attention", "state space", "norms"))
    norms = tuple(one for one in tensors if one.part == "norms")
    mixer = _recurrent(fields, of_mixer) if any(one.startswith("ssm_") for one in names) else None
    if mixer is None:
        mixer = _attention(fields, family, place, of_mixer) if of_mixer else mx.NO_MIXER
    width = _number_of(fields, "feed_forward_length", place, 0)
    count = fields.number("expert_count", 0, 0) if any("_exps" in one for one in names) else 0
    if count:
        used = fields.number("expert_used_count", 1, 1, count)
        made = fields.number("expert_feed_forward_length", width, 0)
        feed = ff.FeedForward(ff.EXPERTS, _used(rest, used, count), True, 0, count, used, made)
    else:
        feed = ff.FeedForward(ff.DENSE, rest, any("ffn_gate" in one for one in names), width)
    return Layer("", mixer, feed, norms)


def _used(tensors: tuple[Tensor, ...], used: int, count: int) -> tuple[Tensor, ...]:
    """Return experts' tensors with how many of them a token uses."""
    found = []
    for one in tensors:
        if one.part != "experts" or one.copies != count:
            found.append(one)
            continue
        numbers = f"{used:,} × {one.rows:,} × {one.columns:,}"
        found.append(
            Tensor(
                one.module,
                one.part,
                one.rows,
                one.columns,
                one.copies,
                used,
                one.formula,
                one.numbers,
                numbers,
                numbers,
                one.split,
                0,
                "",
                False,
                one.stored,
            )
        )
    return tuple(found)


def _attention(fields: Fields, family: str, place: int, tensors: tuple[Tensor, ...]) -> mx.Mixer:
    heads = _number_of(fields, "attention.head_count", place)
    kv_heads = _number_of(fields, "attention.head_count_kv", place, heads)
    size = fields.number("embedding_length") // max(1, heads)
    key = fields.number("attention.key_length", size)
    value = fields.number("attention.value_length", size)
    rank = fields.number("attention.kv_lora_rank", 0, 0)
    window = fields.number("attention.sliding_window", 0, 0, LARGEST_COUNT)
    if rank:
        rotary = fields.number("rope.dimension_count", 64)
        return mx.Mixer(mx.LATENT, tensors, heads, heads, key, value, rank + rotary, rotary_dim=rotary, query_dim=key)
    if window and not _windowed(fields, family, place):
        window = 0
    kind = mx.SLIDING if window else mx.FULL
    return mx.Mixer(kind, tensors, heads, kv_heads, key, value, window=window, rotary_dim=key, query_dim=key)


def _windowed(fields: Fields, family: str, place: int) -> bool:
    """Say whether a layer of a model with a window has it."""
    pattern = fields.data.get("attention.sliding_window_pattern")
    if isinstance(pattern, list):
        return place < len(pattern) and bool(pattern[place])
    every = WINDOW_PATTERNS.get(family, 0)
    if isinstance(pattern, int) and not isinstance(pattern, bool) and 0 < pattern <= MOST_LAYERS:
        every = pattern
    return every == 0 or (place + 1) % every != 0


def _recurrent(fields: Fields, tensors: tuple[Tensor, ...]) -> mx.Mixer:
    inner = fields.number("ssm.inner_size")
    state = fields.number("ssm.state_size")
    kernel = fields.number("ssm.conv_kernel", 4)
    channels = inner
    for one in tensors:
        if one.module.startswith("ssm_conv1d") and one.columns:
            channels = one.rows
    return mx.Mixer(mx.MAMBA2, tensors, convolution=channels, kernel=kernel, state=inner * state)


def _share(layers: list[Layer]) -> list[Layer]:
    """Return layers with a word for each make: those with the same tensors, types and cache share it."""
    known: dict[str, Layer] = {}
    found = []
    for layer in layers:
        mixer = layer.mixer
        parts = [f"{one.module} {one.rows} {one.columns} {one.copies} {one.stored}" for one in layer.tensors]
        key = (
            f"{mixer.kind}, {layer.feed_forward.kind}, {mixer.kv_heads} KV heads, window {mixer.window}; "
            + "; ".join(parts)
        )
        if key not in known:
            known[key] = Layer(key, mixer, layer.feed_forward, layer.norms)
        found.append(known[key])
    return found


assert set(TYPES.values()) <= set(GGML_BLOCKS)
