"""Formats of quantised weights, with their scales, and which modules a file leaves as they are.

A matrix in a format is more than its narrow values: a scale for each group, row or block comes with it, and a zero
point with some. Each format says how many bytes each of them takes for a matrix of so many rows and columns.

Sources: GPTQ (arXiv 2210.17323), AWQ (2306.00978), QLoRA (2305.14314), the OCP Microscaling specification, and
``ggml-common.h`` of llama.cpp for block sizes. Promises: whole bytes, never below what the values alone take. Left
out: padding that a kernel adds when it lays a matrix out its own way; vLLM's of MXFP4 is 5 to 6 % (see the cases).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpumoat.llm.fields import ConfigError, Fields


@dataclass(frozen=True)
class Format:
    """How the values of a matrix are stored.

    Attributes:
        name: Its name.
        bits: Bits of one value.
        group: Values along a row that share a scale; 0 for a scale a row, -1 for one a matrix.
        scale_bytes: Bytes of a scale.
        zero_bits: Bits of a zero point, beside each scale.
        block_rows: Rows that share a scale, for blocks of rows and columns.
        index_bytes: Bytes for each column of an order of columns (act-order).
        matrix_bytes: Bytes for each matrix, such as a second scale.
        second: Scales that share a scale of their own of 4 bytes; 0 for none.
    """

    name: str
    bits: int
    group: int = 0
    scale_bytes: int = 4
    zero_bits: int = 0
    block_rows: int = 1
    index_bytes: int = 0
    matrix_bytes: int = 0
    second: int = 0


PLAIN = {"fp32": Format("fp32", 32, -1, 0), "bf16": Format("bf16", 16, -1, 0), "fp16": Format("fp16", 16, -1, 0)}

FORMATS = {
    "int8": Format("int8", 8, 0, 4),
    "fp8": Format("fp8", 8, 0, 4),
    "fp8-tensor": Format("fp8-tensor", 8, -1, 4),
    "fp8-block": Format("fp8-block", 8, 128, 4, block_rows=128),
    "gptq-int4": Format("gptq-int4", 4, 128, 2, 4),
    "gptq-int8": Format("gptq-int8", 8, 128, 2, 8),
    "awq-int4": Format("awq-int4", 4, 128, 2, 4),
    "int4": Format("int4", 4, 128, 2),
    "nf4": Format("nf4", 4, 64, 4),
    "nf4-double": Format("nf4-double", 4, 64, 1, second=256),
    "mxfp4": Format("mxfp4", 4, 32, 1),
    "nvfp4": Format("nvfp4", 4, 16, 1, matrix_bytes=4),
}
"""Formats by the names of ``--quant``."""

MIXES = "F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S Q5_K_M Q6_K".split()
"""File types of llama.cpp whose rules for single tensors are known."""

GGML_BLOCKS = {
    "F32": (1, 4),
    "F16": (1, 2),
    "BF16": (1, 2),
    "F64": (1, 8),
    "I8": (1, 1),
    "I16": (1, 2),
    "I32": (1, 4),
    "I64": (1, 8),
    "Q4_0": (32, 18),
    "Q4_1": (32, 20),
    "Q5_0": (32, 22),
    "Q5_1": (32, 24),
    "Q8_0": (32, 34),
    "Q8_1": (32, 36),
    "IQ4_NL": (32, 18),
    "MXFP4": (32, 17),
    "NVFP4": (64, 36),
    "Q2_K": (256, 84),
    "Q3_K": (256, 110),
    "Q4_K": (256, 144),
    "Q5_K": (256, 176),
    "Q6_K": (256, 210),
    "Q8_K": (256, 292),
    "IQ1_S": (256, 50),
    "IQ1_M": (256, 56),
    "IQ2_XXS": (256, 66),
    "IQ2_XS": (256, 74),
    "IQ2_S": (256, 82),
    "IQ3_XXS": (256, 98),
    "IQ3_S": (256, 110),
    "IQ4_XS": (256, 136),
    "TQ1_0": (256, 54),
    "TQ2_0": (256, 66),
}
"""Types of llama.cpp: values of a block and its bytes (``ggml-common.h``)."""


def matrix_bytes(format: Format, rows: int, columns: int) -> tuple[int, int]:
    """Return the bytes of a matrix's values and of its scales, zero points and order.

    Args:
        format: How it is stored.
        rows: Its outputs.
        columns: Its inputs; 0 for a vector.
    """
    width = columns or 1
    values = -(-rows * width * format.bits // 8)
    if not format.scale_bytes:
        return values, 0
    if format.group < 0:
        scales = 1
    elif format.group == 0:
        scales = rows
    else:
        scales = -(-rows // format.block_rows) * -(-width // format.group)
    beside = scales * format.scale_bytes + -(-scales * format.zero_bits // 8)
    beside += format.index_bytes * width + format.matrix_bytes
    if format.second:
        beside += -(-scales // format.second) * 4
    return values, beside


def ggml_bytes(kind: str, values: int) -> int:
    """Return the bytes of so many values in a type of llama.cpp."""
    block, size = GGML_BLOCKS[kind]
    return -(-values // block) * size


@dataclass(frozen=True)
class Quantization:
    """What a config says of quantised weights.

    Attributes:
        format: How matrices are stored, or None where nothing is quantised.
        expert_only: Whether only experts are.
        kept: Modules that stay as they are, as in the file.
        head: Whether the head is quantised too.
        note: What had to be assumed, or nothing.
        mix: A file type of llama.cpp, such as ``Q4_K_M``, whose rules say the type of each tensor.
    """

    format: Format | None
    expert_only: bool = False
    kept: tuple[str, ...] = ()
    head: bool = False
    note: str = ""
    mix: str = ""


NOTHING = Quantization(None)


def named(name: str) -> Quantization:
    """Return the quantisation that a name of ``--quant`` stands for.

    Raises:
        ConfigError: There is none of that name.
    """
    if name in ("", "none", "bf16", "fp16"):
        return NOTHING
    if name.upper() in MIXES:
        return Quantization(None, mix=name.upper())
    if name not in FORMATS:
        raise ConfigError(
            f"quant must be one of none, {', '.join(FORMATS)}, or a file type such as Q4_K_M, not {name[:40]!r}"
        )
    return Quantization(FORMATS[name], expert_only=name == "mxfp4")


def read_quantization(data: Any) -> Quantization:
    """Return what a ``quantization_config`` says.

    Raises:
        ConfigError: It names no method that is known, and no bits either.
    """
    if not data:
        return NOTHING
    fields = Fields(data, where="quantization_config.")
    method = fields.text("quant_method quant_library").replace("_marlin", "")
    kept = _kept(fields)
    if method == "fp8" or (method == "" and fields.text("fmt").startswith("e4m3")):
        return Quantization(_fp8(fields), kept=kept)
    if method == "fbgemm_fp8":
        return Quantization(FORMATS["fp8"], kept=kept)
    if method in ("gptq", "awq", "auto-round", "gptqmodel", "autoround"):
        return Quantization(_grouped(fields), kept=kept, head=fields.flag("lm_head"))
    if method == "bitsandbytes" or fields.flag("load_in_4bit") or fields.flag("load_in_8bit"):
        if not fields.flag("load_in_4bit"):
            return Quantization(FORMATS["int8"], kept=kept)
        double = fields.flag("bnb_4bit_use_double_quant")
        return Quantization(FORMATS["nf4-double" if double else "nf4"], kept=kept)
    if method == "mxfp4":
        return Quantization(FORMATS["mxfp4"], expert_only=True, kept=kept)
    if method in ("modelopt", "modelopt_fp4"):
        return Quantization(_modelopt(fields, method), kept=kept)
    if method == "compressed-tensors":
        return Quantization(_compressed(fields), kept=kept)
    if fields.find("bits")[1] is not None:
        format = _grouped(fields)
        return Quantization(
            format, kept=kept, note=f"quant_method {method[:40]!r} is not known: taken as {format.name}"
        )
    raise ConfigError(
        "quantization_config.quant_method must be one of fp8, fbgemm_fp8, gptq, awq, bitsandbytes, mxfp4, modelopt, "
        f"compressed-tensors, not {method[:40]!r}"
    )


def _kept(fields: Fields) -> tuple[str, ...]:
    names = "modules_to_not_convert ignore ignored_layers exclude_modules llm_int8_skip_modules"
    found: list[str] = []
    for name in names.split():
        listed = fields.items(name)
        for item in listed or []:
            if not isinstance(item, str):
                raise ConfigError(f"{fields.where}{name} must be a list of texts")
            found.append(item)
    return tuple(found)


def _fp8(fields: Fields) -> Format:
    block = fields.numbers("weight_block_size", 1, 65536)
    if block is None:
        return FORMATS["fp8-tensor"]
    if len(block) != 2:
        raise ConfigError("quantization_config.weight_block_size must be two whole numbers")
    one = 1 if fields.text("scale_fmt") == "ue8m0" and fields.text("expert_dtype") else 4
    return Format("fp8-block", 8, block[1], one, block_rows=block[0])


def _grouped(fields: Fields) -> Format:
    bits = fields.number("bits w_bit", 4, 1, 16)
    group = fields.number("group_size q_group_size", 128, -1, 65536)
    order = 4 if fields.flag("desc_act") else 0
    return Format(f"int{bits}", bits, max(group, 0), 2, bits, index_bytes=order)


def _modelopt(fields: Fields, method: str) -> Format:
    inner = fields.inner("quantization") or fields
    kind = inner.text("quant_algo", fields.text("quant_algo", "NVFP4" if method == "modelopt_fp4" else "FP8"))
    return FORMATS["nvfp4" if "FP4" in kind.upper() else "fp8-tensor"]


def _compressed(fields: Fields) -> Format:
    """Return the format of compressed-tensors: the weights of its first group."""
    text = fields.data.get("weights")
    groups = fields.inner("config_groups")
    if groups is None or not groups.data:
        words = text if isinstance(text, str) else ""
        if "fp8" in words or "int8" in words:
            return FORMATS["fp8" if "fp8" in words else "int8"]
        raise ConfigError("quantization_config.config_groups is missing: it must be an object of groups")
    first = groups.inner(sorted(groups.data)[0])
    weights = first.inner("weights") if first is not None else None
    if weights is None:
        raise ConfigError("quantization_config.config_groups has no weights")
    bits = weights.number("num_bits", 8, 1, 16)
    kind = weights.text("type", "int")
    strategy = weights.text("strategy", "channel")
    name = f"{'fp' if kind == 'float' else 'int'}{bits}"
    if strategy == "tensor":
        return Format(name, bits, -1, 4)
    if strategy == "block":
        block = weights.numbers("block_structure", 1, 65536) or [128, 128]
        return Format(name, bits, block[1], 4, block_rows=block[0])
    if strategy in ("group", "tensor_group"):
        size = weights.number("group_size", 128, 1, 65536)
        if kind == "float" and bits == 4:
            return FORMATS["nvfp4" if size == 16 else "mxfp4"]
        return Format(name, bits, size, 2, 0 if weights.flag("symmetric", True) else bits)
    return Format(name, bits, 0, 4)


STARTS = ("language_model.", "model.", "backbone.", "transformer.")
"""What may stand before the layers in a module's name, more than once."""


def _bare(pattern: str) -> str:
    """Return a pattern without what stands before the layers."""
    for start in STARTS * 2:
        if pattern.startswith(start) and len(pattern) > len(start):
            pattern = pattern[len(start) :]
    return pattern


class Keeper:
    """Says which modules stay as they are.

    A pattern is a module's name or the start of it, with ``*`` for anything; ``re:`` begins a regular expression. A
    name without layers, such as ``self_attn``, holds in every layer.
    """

    def __init__(self, kept: tuple[str, ...]) -> None:
        plain = [_bare(item) for item in kept if "*" not in item and not item.startswith("re:")]
        self.names = {item for item in plain if item.startswith("layers.")}
        self.anywhere = {item for item in plain if not item.startswith("layers.")}
        self.patterns = [_bare(item) for item in kept if "*" in item and not item.startswith("re:")][:1000]
        self.expressions = [item[3:] for item in kept if item.startswith("re:")][:1000]
        self.any = bool(kept)
        self.by_layer = bool(self.names or self.patterns or self.expressions)

    def keeps(self, module: str, layer: int) -> bool:
        """Say whether a module stays; ``layer`` is -1 for one outside the layers."""
        if not self.any:
            return False
        parts = module.split(".")
        if self.anywhere:
            for start in range(len(parts)):
                for end in range(start + 1, len(parts) + 1):
                    if ".".join(parts[start:end]) in self.anywhere:
                        return True
        name = f"layers.{layer}.{module}" if layer >= 0 else module
        if self.names:
            for end in range(1, len(parts) + 1):
                if f"layers.{layer}." + ".".join(parts[:end]) in self.names:
                    return True
            if f"layers.{layer}" in self.names:
                return True
        for pattern in self.patterns:
            if _matches(pattern, name):
                return True
        return self._fits(name)

    def _fits(self, name: str) -> bool:
        """Say whether one of the regular expressions fits."""
        if not self.expressions:
            return False
        import re

        for expression in self.expressions:
            try:
                if re.match(expression, name) or re.match(expression, "model." + name):
                    return True
            except re.error:
                raise ConfigError(f"quantization_config has a pattern that is none: {expression[:40]!r}") from None
        return False


def _matches(pattern: str, name: str) -> bool:
    """Say whether a pattern with stars fits a name or the start of it, up to a dot."""
    pieces = pattern.split("*")
    if not name.startswith(pieces[0]):
        return False
    place = len(pieces[0])
    for piece in pieces[1:]:
        found = name.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return pattern.endswith("*") or place == len(name) or name[place] == "."
