"""Where an architecture comes from: a file, a folder, standard input, the catalogue, or an object in memory.

Promises: whatever the input holds, an `Architecture` or one `ConfigError`; nothing is fetched. Left out: configs of
models that read text and write other text (encoder-decoder).
"""

from __future__ import annotations

from typing import Any

from gpumoat.llm.architecture import Architecture
from gpumoat.llm.configs import class_defaults, config_entry
from gpumoat.llm.families import reader
from gpumoat.llm.fields import ConfigError, Fields
from gpumoat.llm.towers import image_size, read_towers
from gpumoat.llm.traits import FAMILIES

LARGEST_FILE = 32 * 2**20
"""The largest file that is looked at as a config."""

TEXT = ("text_config", "llm_config", "language_config", "text_model_config", "language_model")
"""Where a model for pictures and text keeps the config of its text model."""

SHARED = (
    "tie_word_embeddings",
    "torch_dtype",
    "dtype",
    "quantization_config",
    "compression_config",
    "vocab_size",
    "max_position_embeddings",
)
"""Fields that may stand outside the config of the text model and hold for it."""

DTYPES = {
    "float32": "fp32",
    "float": "fp32",
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8",
}
"""Names of data types in configs."""

ALIASES = {
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gemma4_unified": "gemma4_text",
    "llama4": "llama4_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "RefinedWeb": "falcon",
    "RefinedWebModel": "falcon",
    "phi-msft": "phi",
    "codellama": "llama",
    "yi": "llama",
    "deepseek_v31": "deepseek_v3",
}
"""Names that stand for a family of another name."""


def read_config(data: Any, name: str = "") -> Architecture:
    """Return the architecture that a published config describes.

    Args:
        data: The object of a ``config.json``.
        name: How the model is called.

    Raises:
        ConfigError: The config cannot be read; one line says which field and what would be right.
    """
    if not isinstance(data, dict):
        raise ConfigError("a config must be a JSON object, such as the content of a config.json")
    try:
        return _read(data, name)
    except RuntimeError:  # what both Pythons raise where the nesting is too deep
        raise ConfigError("the config is nested too deeply") from None


def _read(data: dict[str, Any], name: str) -> Architecture:
    assumed: list[str] = []
    text, where = _text_config(data)
    family = _family(data, text)
    if "ssm_cfg" in text:
        family, text = _state_space(text)
    _refuse_encoder_decoder(data)
    merged = dict(text)
    for inner in ("attn_config", "ffn_config"):
        nested = text.get(inner)
        if isinstance(nested, dict):
            for key in nested:
                merged.setdefault(key, nested[key])
    if text.get("model_type") == "RefinedWeb":  # the first name of Falcon 40B, whose class had no switch for it
        merged.setdefault("new_decoder_architecture", True)
    fallback = {key: data[key] for key in SHARED if key in data} if text is not data else {}
    fields = Fields(merged, class_defaults(family), assumed, where, fallback)
    towers = read_towers(data, fields)
    quantization = fields.inner("quantization_config") or fields.inner("compression_config")
    known = reader(fields, family)
    title = name or fields.text("_name_or_path") or family
    return known.read(title, towers, quantization.data if quantization else {}, _dtype(fields), image_size(data))


def _text_config(data: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the config of the text model, and where it stands."""
    thinker = data.get("thinker_config")
    if isinstance(thinker, dict):
        inner, where = _text_config(thinker)
        return inner, "thinker_config." + where
    for key in TEXT:
        nested = data.get(key)
        if isinstance(nested, dict):
            return nested, key + "."
        if nested is not None and not isinstance(nested, str):
            raise ConfigError(f"{key} must be an object")
    return data, ""


def _family(data: dict[str, Any], text: dict[str, Any]) -> str:
    """Return the family: the text model's own name, or the whole model's."""
    for place in (text, data):
        value = place.get("model_type")
        if value is None:
            continue
        if not isinstance(value, str):
            raise ConfigError("model_type must be a text")
        family = ALIASES.get(value, value)
        if family in FAMILIES or place is data or text is data:
            return family
        outer = ALIASES.get(str(data.get("model_type")), "")
        return outer if outer in FAMILIES else family
    return _by_architecture(data)


def _by_architecture(data: dict[str, Any]) -> str:
    """Return the family of a config without ``model_type``, by the class that it names."""
    named = data.get("architectures")
    first = named[0] if isinstance(named, list) and named else ""
    if isinstance(first, str) and first:
        bare = first.replace("ForCausalLM", "").replace("LMHeadModel", "").replace("Model", "").lower()
        for family in sorted(FAMILIES):
            if family.replace("_", "").replace("-", "") == bare:
                return family
    return ""


def _state_space(text: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the family and the fields of a config in the form of the first Mamba programs."""
    inner = text.get("ssm_cfg")
    if inner is not None and not isinstance(inner, dict):
        raise ConfigError("ssm_cfg must be an object")
    said = dict(inner or {})
    second = said.get("layer") == "Mamba2"
    fields = Fields(dict(text))
    hidden = fields.number("d_model")
    multiple = fields.number("pad_vocab_size_multiple", 8)
    rows = -(-fields.number("vocab_size") // multiple) * multiple
    inside = Fields(said, where="ssm_cfg.")
    width = inside.number("expand", 2) * hidden
    found = {
        "hidden_size": hidden,
        "num_hidden_layers": text.get("n_layer"),
        "vocab_size": rows,
        "state_size": inside.number("d_state", 128 if second else 16),
        "conv_kernel": inside.number("d_conv", 4),
        "expand": inside.number("expand", 2),
        "tie_word_embeddings": text.get("tie_embeddings", True),
    }
    if second:
        size = inside.number("headdim", 64)
        found["head_dim"] = size
        found["num_heads"] = width // size
        found["n_groups"] = inside.number("ngroups", 1)
    return "mamba2" if second else "mamba", found


def _refuse_encoder_decoder(data: dict[str, Any]) -> None:
    if data.get("is_encoder_decoder") is True:
        raise ConfigError("is_encoder_decoder is true: models with an encoder and a decoder are not read yet")


def _dtype(fields: Fields) -> str:
    """Return the data type of the weights as published; 16 bits where the config does not say."""
    name = fields.text("dtype torch_dtype")
    if name.startswith("torch."):
        name = name[6:]
    if not name or name == "auto":
        return "bf16"
    if name not in DTYPES:
        raise ConfigError(f"{fields.where}torch_dtype must be one of {', '.join(sorted(DTYPES))}, not {name[:40]!r}")
    return DTYPES[name]


def load(source: str) -> Architecture:
    """Return the architecture of a model of the catalogue, a file, a folder, or standard input.

    Args:
        source: An id of the catalogue; a ``config.json`` or a GGUF file; a folder with one; or ``-``.

    Raises:
        ConfigError: There is nothing there, or it cannot be read.
    """
    import os
    import sys

    if source == "-":
        return read_config(_parse(sys.stdin.read(), "standard input"), "standard input")
    if os.path.isdir(source):
        inside = os.path.join(source, "config.json")
        if not os.path.isfile(inside):
            raise ConfigError(f"{source} has no config.json")
        return _file(inside, os.path.basename(os.path.normpath(source)))
    if os.path.isfile(source):
        return _file(source, os.path.basename(source))
    entry = config_entry(source)
    return read_config(entry["config"], str(entry.get("name", source)))


def _file(path: str, name: str) -> Architecture:
    with open(path, "rb") as file:
        if file.read(4) == b"GGUF":
            from gpumoat.llm.gguf import read_gguf

            file.seek(0)
            return read_gguf(file, name)
        file.seek(0)
        raw = file.read(LARGEST_FILE + 1)
    if len(raw) > LARGEST_FILE:
        raise ConfigError(f"{name} is no config: it has more than {LARGEST_FILE:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{name} is no config: it is no text") from None
    return read_config(_parse(text, name), name)


def _parse(text: str, name: str) -> Any:
    import json

    try:
        return json.loads(text)
    except RuntimeError:  # what both Pythons raise where the nesting is too deep
        raise ConfigError(f"{name} is nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{name} is no JSON: {str(error)[:100]}") from None
