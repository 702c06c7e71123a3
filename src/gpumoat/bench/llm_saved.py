"""What one forward pass of a training step saves for the backward pass, tensor by tensor.

Each storage that autograd keeps is counted once, by data type and shape, the model's own weights apart, and the sum is
compared with what the allocator's count grew by over the same pass. So a term that a formula misses can be named.

    PYTHONPATH=src python -m gpumoat.bench.llm_saved h200-llm-saved.json

Promises: the cases, classes and loss of `gpumoat.bench.llm_training`. Left out: what a recomputed layer saves while it
is run again.
"""

import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
import transformers

from gpumoat.bench.llm_memory import Results, _failed, key
from gpumoat.bench.llm_shapes import emptied, fill, held, make, text_of
from gpumoat.bench.llm_training import AUTOCAST, KEPT, PURE, RECOMPUTED, SHAPES, config_for
from gpumoat.bench.run import document


def saved(model: Any, ids: Any, way: str) -> dict[str, Any]:
    """Run one forward pass; return the sum of what it saves, the same by type and shape, and what the count grew by."""
    weights = {each.untyped_storage().data_ptr() for each in model.parameters()}
    seen: dict[int, tuple[str, int]] = {}

    def pack(one: Any) -> Any:
        place = one.untyped_storage().data_ptr()
        if place not in weights:
            name = f"{str(one.dtype).removeprefix('torch.')} {tuple(one.shape)}"
            seen.setdefault(place, (name, one.untyped_storage().nbytes()))
        # A copy without history: an output that its own node kept would never be let go.
        return one.detach()

    before = held()["allocated_bytes"]
    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one)
    with hooks, torch.autocast("cuda", torch.bfloat16) if way == AUTOCAST else nullcontext():
        loss = model(ids, labels=ids, use_cache=False).loss
    grown = held()["allocated_bytes"] - before
    # Read while all of them live: an address that has been let go may be given out again.
    counts = Counter(name for name, _ in seen.values())
    size = sum(size for _, size in seen.values())
    del loss
    return {"saved_bytes": size, "grown_bytes": grown, "tensors": dict(counts)}


def measure(id: str, way: str, recompute: str, batch: int, length: int) -> dict[str, Any]:
    """Measure one case in a new model, after one pass that is not counted."""
    config = config_for(id)
    with emptied():
        model = make(config, torch.float32 if way == AUTOCAST else torch.bfloat16).train()
        fill(model)
        if recompute == RECOMPUTED:
            model.gradient_checkpointing_enable()
        ids = torch.randint(0, config["vocab_size"], (batch, length), device="cuda")
        saved(model, ids, way)
        found = saved(model, ids, way)
        del model, ids
    return found


def main() -> None:
    """Measure case by case, and write the file after each shape."""
    results: Results = {}
    raw: dict[str, Any] = {}
    for id, batch, lengths in SHAPES:
        for length in reversed(lengths):
            for way in (AUTOCAST, PURE):
                for recompute in (KEPT, RECOMPUTED):
                    name = f"{key(id)}_{way}_{recompute}_{batch}x{length}"
                    row: dict[str, Any] = {"id": id, "way": way, "recompute": recompute}
                    raw[name] = row | {"batch": batch, "length": length}
                    try:
                        raw[name] |= measure(id, way, recompute, batch, length)
                    except Exception as failure:
                        _failed(raw[name], failure)
                        continue
                    what = f"saved by one forward pass: {id}, {way}, activations {recompute}, {batch} x {length} tokens"
                    results[f"{name}_saved_bytes"] = (raw[name]["saved_bytes"], "bytes", what)
        run = document("h200-llm-saved", "What a forward pass saves", "src/gpumoat/bench/llm_saved.py", results, raw)
        run["versions"]["transformers"] = transformers.__version__
        Path(sys.argv[1]).write_text(text_of(run), encoding="utf-8")


if __name__ == "__main__":
    main()
