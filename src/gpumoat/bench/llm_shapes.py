"""Models of published shapes with random weights, made straight on the card, and what three counters say of memory.

The shapes are the configs of the catalogue, some with fewer layers; the classes are those of the transformers library.
No weights are read and none are kept.

Promises: each tensor is made once, in the data type asked for, on the card; nothing is made elsewhere and copied.
Left out: loading from files, which lays tensors into memory that the loader has taken before.
"""

from __future__ import annotations

import copy
import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpumoat.llm.configs import config_entry

LAYER_FIELDS = ("num_hidden_layers", "n_layer", "num_layers")
LIST_FIELDS = ("layer_types", "mlp_layer_types", "layers_block_type", "hybrid_override_pattern")


def config_of(id: str, layers: int = 0, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the published fields of a model of the catalogue, with fewer layers and other changes if asked.

    Quantised weights are not made: what a config says of them is left out.
    """
    config = copy.deepcopy(config_entry(id)["config"])
    config.pop("quantization_config", None)
    text = config.get("text_config", config)
    if layers:
        for name in LAYER_FIELDS:
            if name in text:
                text[name] = layers
        for name in LIST_FIELDS:
            if name in text:
                text[name] = text[name][:layers]
    text.update(changes or {})
    return dict(config)


def make(config: dict[str, Any], dtype: Any, device: str = "cuda") -> Any:
    """Return a model of the transformers library with a config's shape; its weights are whatever lies in memory."""
    import torch
    import transformers
    from transformers.initialization import no_init_weights

    fields = {name: value for name, value in config.items() if name not in ("auto_map", "torch_dtype", "dtype")}
    made = transformers.AutoConfig.for_model(fields.pop("model_type"), **fields)
    kind = transformers.AutoModelForImageTextToText if "vision_config" in config else transformers.AutoModelForCausalLM
    with torch.device(device), no_init_weights():
        model = kind.from_config(made, dtype=dtype)
    model.tie_weights()
    return model


def fill(model: Any) -> None:
    """Give a model random weights in place: matrices small and random, gains one, biases nought."""
    import torch

    with torch.no_grad():
        for name, each in model.named_parameters():
            if each.ndim > 1:
                each.normal_(0.0, 0.02)
            else:
                each.fill_(0.0 if name.endswith("bias") else 1.0)


def tensors(model: Any) -> list[tuple[str, Any]]:
    """Return a model's parameters and buffers in the order of its modules, each that lies in memory of its own once."""
    found, seen = [], set()
    for module_name, module in model.named_modules():
        for name, each in [*module._parameters.items(), *module._buffers.items()]:
            if each is None or each.untyped_storage()._cdata in seen:
                continue
            seen.add(each.untyped_storage()._cdata)
            found.append((f"{module_name}.{name}", each))
    return found


def driver_bytes() -> int:
    """Return what the driver says is used of the first card."""
    import pynvml

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    return int(pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2).used)


def held() -> dict[str, int]:
    """Return what is allocated, asked for, reserved, and used by the driver's count, now."""
    import torch

    torch.cuda.synchronize()
    said = torch.cuda.memory_stats()
    return {
        "allocated_bytes": said["allocated_bytes.all.current"],
        "requested_bytes": said["requested_bytes.all.current"],
        "reserved_bytes": said["reserved_bytes.all.current"],
        "driver_bytes": driver_bytes(),
    }


def peaks() -> dict[str, int]:
    """Return the peaks since the last `start`, and the driver's count now, which never falls before memory is freed."""
    import torch

    torch.cuda.synchronize()
    return {
        "allocated_bytes": torch.cuda.max_memory_allocated(),
        "reserved_bytes": torch.cuda.max_memory_reserved(),
        "driver_bytes": driver_bytes(),
    }


def start() -> dict[str, int]:
    """Begin to watch for peaks; return what is held."""
    import torch

    now = held()
    torch.cuda.reset_peak_memory_stats()
    return now


@contextmanager
def emptied() -> Iterator[None]:
    """Give all memory back before and after."""
    import torch

    gc.collect()
    torch.cuda.empty_cache()
    try:
        yield
    finally:
        gc.collect()
        torch.cuda.empty_cache()


def text_of(run: dict[str, Any]) -> str:
    """Return the text of a run's file: lists of numbers on one line each."""
    text = json.dumps(run, indent=1)
    for _ in range(2):
        text = re.sub(r"\[([-+\d.e,\s\[\]]*)\]", lambda found: "[" + " ".join(found[1].split()) + "]", text)
    return text + "\n"
