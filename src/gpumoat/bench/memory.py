"""What one card's memory really holds, and what one GPT-3 layer really takes there.

Measures, on the first CUDA device: the memory that the driver and the framework report, what a program can
allocate before it is refused, and, for one layer of a GPT-style model, the bytes of its weights, of its
training state with Adam in fp32, and of its activations in 16 bits. Each is predicted first, by the formulas
of ``gpumoat.llm``, and both are written down.

Run it on a machine with PyTorch and a card, and keep what it prints:

    PYTHONPATH=src python -m gpumoat.bench.memory > src/gpumoat/data/measurements/h200-memory.json

Promises: the layer is plain PyTorch without fused kernels, the layer that the formulas describe. Left out:
speed, several cards, and what a serving program adds.
"""

import datetime
import json
import math
import platform
import subprocess
import sys
from typing import Any

from gpumoat.llm import activation_bytes_per_layer, full_precision_terms, layer_parameters, total_bytes, weights_bytes
from gpumoat.llm.catalogue import gpt_shape
from gpumoat.units import MIB

STEP_BYTES = 64 * MIB  # the size of the blocks that fill the card
SHORT = 128  # tokens, where only the weights, gradients and moments are wanted


def driver() -> dict[str, int | str]:
    """Return what the driver says of the first card."""
    query = "name,driver_version,memory.total,memory.used"
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", "--id=0"]
    name, version, total, used = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(", ")
    return {"name": name, "version": version, "total_bytes": int(total) * MIB, "used_bytes": int(used) * MIB}


def make_layer(torch: Any, hidden: int, heads: int, dtype: Any) -> Any:
    """Return one GPT-style layer as the formulas count it: separate q, k, v; GELU; LayerNorm; dropout."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
            self.q, self.k, self.v, self.o = (nn.Linear(hidden, hidden) for _ in range(4))
            self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

        def split(self, x: Any) -> Any:
            batch, length, _ = x.shape
            return x.view(batch, length, heads, hidden // heads).transpose(1, 2).reshape(batch * heads, length, -1)

        def attend(self, x: Any, hidden_later: Any) -> Any:
            batch, length, _ = x.shape
            q = self.split(self.q(x)) * (hidden // heads) ** -0.5
            scores = (q @ self.split(self.k(x)).transpose(1, 2)).masked_fill_(hidden_later, -math.inf)
            mixed = functional.dropout(scores.softmax(-1), 0.1) @ self.split(self.v(x))
            mixed = mixed.view(batch, heads, length, -1).transpose(1, 2).reshape(batch, length, hidden)
            return functional.dropout(self.o(mixed), 0.1)

        def forward(self, x: Any, hidden_later: Any) -> Any:
            x = x + self.attend(self.norm1(x), hidden_later)
            return x + functional.dropout(self.down(functional.gelu(self.up(self.norm2(x)))), 0.1)

    return Layer().to(device="cuda", dtype=dtype)


def measure_layer(torch: Any) -> dict[str, Any]:
    """Measure the weights, the training state and the activations of one GPT-3 layer."""
    shape = gpt_shape("gpt3")
    held = torch.cuda.memory_allocated
    found: dict[str, Any] = {}
    # Libraries take their workspace before we count; a small layer makes them ask for all of it.
    for dtype in (torch.float32, torch.bfloat16):
        small = make_layer(torch, 1024, 8, dtype)
        small(*make_input(torch, 1024, SHORT, dtype)).sum().backward()
    del small
    torch.cuda.empty_cache()

    before = held()
    layer = make_layer(torch, shape.hidden, shape.heads, torch.float32)
    found["layer_parameters_count"] = sum(parameter.numel() for parameter in layer.parameters())
    found["layer_weights_bytes"] = held() - before
    optimizer = torch.optim.Adam(layer.parameters(), foreach=False)
    layer(*make_input(torch, shape.hidden, SHORT, torch.float32)).square().mean().backward()
    optimizer.step()
    torch.cuda.synchronize()
    found["layer_training_bytes"] = held() - before
    del layer, optimizer
    torch.cuda.empty_cache()

    layer = make_layer(torch, shape.hidden, shape.heads, torch.bfloat16)
    x, later = make_input(torch, shape.hidden, shape.positions, torch.bfloat16)
    layer(x, later).sum().backward()
    layer.zero_grad(set_to_none=True)
    x.grad = None
    torch.cuda.synchronize()
    before = held()
    out = layer(x, later)
    torch.cuda.synchronize()
    found["layer_activations_bytes"] = held() - before
    assert bool(torch.isfinite(out).all())
    return found


def make_input(torch: Any, hidden: int, length: int, dtype: Any) -> tuple[Any, Any]:
    """Return one sequence of random vectors, and the mask of the places that come later."""
    x = torch.randn(1, length, hidden, dtype=dtype, device="cuda", requires_grad=True)
    return x, torch.ones(length, length, dtype=torch.bool, device="cuda").triu(1)


def fill(torch: Any) -> int:
    """Return how many bytes a program can allocate, in blocks, before it is refused."""
    blocks = []
    try:
        while True:
            blocks.append(torch.empty(STEP_BYTES, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError:
        pass
    held = len(blocks) * STEP_BYTES
    del blocks
    torch.cuda.empty_cache()
    return held


def main() -> None:
    """Measure, and print the run as JSON."""
    import torch

    shape = gpt_shape("gpt3")
    layer = layer_parameters(shape)
    predicted = {
        "layer_weights_bytes": weights_bytes(layer, "fp32"),
        "layer_training_bytes": total_bytes(full_precision_terms(layer)),
        # The layer's output is held as well, and its input is held already: the same number of bytes.
        "layer_activations_bytes": activation_bytes_per_layer(shape, shape.positions),
    }
    print("predicted", predicted, file=sys.stderr)
    idle = driver()
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    context = driver()
    properties = torch.cuda.get_device_properties(0)
    layers = measure_layer(torch)
    filled = fill(torch)
    what = {
        "driver_total_bytes": (idle["total_bytes"], "memory that the driver reports"),
        "total_bytes": (properties.total_memory, "memory that PyTorch reports"),
        "context_bytes": (int(context["used_bytes"]) - int(idle["used_bytes"]), "taken by an empty CUDA context"),
        "allocatable_bytes": (filled, "allocated in blocks of 64 MiB before the card refused"),
        "layer_parameters_count": (layers["layer_parameters_count"], "parameters of one GPT-3 layer in PyTorch"),
        "layer_weights_bytes": (layers["layer_weights_bytes"], "allocated for the weights of one GPT-3 layer, fp32"),
        "layer_training_bytes": (
            layers["layer_training_bytes"],
            "allocated for one GPT-3 layer after a backward pass and a step: weights, gradients, Adam's moments, fp32",
        ),
        "layer_activations_bytes": (
            layers["layer_activations_bytes"],
            "allocated by the forward pass of one GPT-3 layer, one full sequence, bf16, no fused kernels",
        ),
    }
    units = {name: "bytes" if name.endswith("_bytes") else "" for name in what}
    run = {
        "schema": 1,
        "id": "h200-memory",
        "title": "Memory of one card, and of one GPT-3 layer on it",
        "device": str(idle["name"]),
        "driver": str(idle["version"]),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "cuda": str(torch.version.cuda)},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "script": "src/gpumoat/bench/memory.py",
        "results": {name: {"value": value, "unit": units[name], "what": text} for name, (value, text) in what.items()},
        "raw": {"predicted": predicted, "idle": idle, "context": context, "step_bytes": STEP_BYTES},
    }
    json.dump(run, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
