"""What training language models of published shapes takes on one card, step by step.

Each case is three steps of AdamW: FP32 weights under BF16 autocast, or all in BF16; activations kept or recomputed
layer by layer; two lengths. The counters are read at the start, at the end and the peak of the forward pass and of the
backward pass, and at the peak of the optimizer's step. The optimizer is PyTorch's own, not fused: it works on all
tensors at once, so its step holds one value more for each parameter; one case does them one after the other.

    PYTHONPATH=src python -m gpumoat.bench.llm_training h200-llm-training.json

Promises: the loss is the library's own, from its own forward pass; what the pass returns besides is let go, as trainers
do; the first step, which makes the optimizer's moments, is kept apart from those after. Predicted first, by the rules
in `rule`, and both written down. Left out: speed, several cards, fused kernels.
"""

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from gpumoat.bench.llm_memory import Results, _failed, key
from gpumoat.bench.llm_shapes import config_of, driver_bytes, emptied, fill, held, make, peaks, start, text_of
from gpumoat.bench.run import document
from gpumoat.llm.counts import total_parameters
from gpumoat.llm.load import read_config

TINY_LLAMA = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
}
"""TinyLlama 1.1B, which the catalogue does not have."""

SHAPES = (("llama-3.2-1b", 4, (512, 2048)), ("gpt2", 8, (512, 1024)), ("tinyllama-1.1b", 4, (512, 2048)),
          ("qwen2.5-1.5b", 4, (512, 2048)))  # fmt: skip
"""Models, sequences of a batch, and lengths; GPT-2 knows 1,024 positions."""
AUTOCAST, PURE = "autocast", "bf16"
KEPT, RECOMPUTED = "kept", "recomputed"
STEPS = 3


def config_for(id: str) -> dict[str, Any]:
    """Return the fields of one of the shapes."""
    return dict(TINY_LLAMA) if id == "tinyllama-1.1b" else config_of(id)


def rule(config: dict[str, Any], way: str, recompute: str, tokens: int) -> dict[str, int]:
    """Return the bytes expected by closed forms, before anything has been measured.

    A layer keeps of each token, in a Llama: 16h + 8 of norms (20h + 8 under autocast, where the residual is FP32),
    4q + 4k + 4a of attention without a matrix of scores, 8f of the gated block; in GPT-2, 34h of the published
    form, and 24h more since the library's GELU is made of plain operations. The head keeps 4 bytes a logit until the
    backward pass, which takes 8 more. Recomputation keeps a layer's input alone. The step holds one value more for each
    parameter, beside weights, gradients and both moments.
    """
    architecture = read_config(config)
    count = total_parameters(architecture)
    value = 4 if way == AUTOCAST else 2
    hidden, vocabulary = architecture.hidden, architecture.vocabulary
    layer, layers = architecture.layers[0], len(architecture.layers)
    mixer, feed = layer.mixers[0], layer.feed_forward
    if config["model_type"] == "gpt2":
        each = (62 if way == AUTOCAST else 58) * hidden
    else:
        norms = 20 if way == AUTOCAST else 16
        widths = mixer.heads * mixer.query_dim + mixer.kv_heads * mixer.key_dim + mixer.heads
        each = norms * hidden + 8 + 4 * widths + 8 * feed.width
    kept = (value * hidden if recompute == RECOMPUTED else each) * layers * tokens
    states = 3 * value * count
    # Under autocast the layers' copies in BF16 live as long as the graph; recomputed layers drop theirs.
    copies = 2 * count if way == AUTOCAST and recompute == KEPT else 0
    forward = states + kept + copies + (8 * hidden + 4 * vocabulary) * tokens
    backward = max(forward + 8 * vocabulary * tokens, states + value * count + (each * tokens if not copies else 0))
    step = states + 2 * value * count
    return {
        "after_step_bytes": states,
        "forward_end_bytes": forward,
        "backward_peak_bytes": backward,
        "step_peak_bytes": step,
        "peak_bytes": max(backward, step),
    }


def one_step(model: Any, optimizer: Any, ids: Any, way: str) -> dict[str, Any]:
    """Run one step; return what was held and the peaks of its parts."""
    row: dict[str, Any] = {"start": start()}
    with torch.autocast("cuda", torch.bfloat16) if way == AUTOCAST else nullcontext():
        loss = model(ids, labels=ids, use_cache=False).loss
    row["forward_peak"], row["forward_end"] = peaks(), held()
    torch.cuda.reset_peak_memory_stats()
    loss.backward()
    row["backward_peak"], row["backward_end"] = peaks(), held()
    row["loss"] = float(loss.detach())
    del loss
    torch.cuda.reset_peak_memory_stats()
    optimizer.step()
    row["step_peak"] = peaks()
    optimizer.zero_grad(set_to_none=True)
    row["end"] = held()
    return row


def train(config: dict[str, Any], way: str, recompute: str, batch: int, length: int, at_once: bool) -> dict[str, Any]:
    """Train a new model for three steps on random tokens; return the counts of each."""
    with emptied():
        before = held()
        model = make(config, torch.float32 if way == AUTOCAST else torch.bfloat16).train()
        fill(model)
        weights = held()["allocated_bytes"] - before["allocated_bytes"]
        if recompute == RECOMPUTED:
            model.gradient_checkpointing_enable()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=False, foreach=at_once)
        ids = torch.randint(0, config["vocab_size"], (batch, length), device="cuda")
        steps = [one_step(model, optimizer, ids, way) for _ in range(STEPS)]
        del model, optimizer, ids
    return {"before": before, "weights_bytes": weights, "steps": steps}


def measure(id: str, way: str, recompute: str, batch: int, length: int, results: Results, raw: dict[str, Any],
            at_once: bool = True) -> None:  # fmt: skip
    """Measure one case, predicted first."""
    name = f"{key(id)}_{way}_{recompute}_{batch}x{length}" + ("" if at_once else "_one_by_one")
    began = time.monotonic()
    config = config_for(id)
    row: dict[str, Any] = {
        "id": id, "way": way, "recompute": recompute, "batch": batch, "length": length, "at_once": at_once,
        "predicted": rule(config, way, recompute, batch * length),
    }  # fmt: skip
    raw[name] = row
    try:
        row |= train(config, way, recompute, batch, length, at_once)
    except Exception as failure:
        _failed(row, failure)
        return
    row["seconds"] = time.monotonic() - began
    last = row["steps"][-1]
    parts = ("forward_peak", "backward_peak", "step_peak")
    found = {
        "after_step": last["end"]["allocated_bytes"],
        "forward_end": last["forward_end"]["allocated_bytes"],
        "backward_peak": last["backward_peak"]["allocated_bytes"],
        "step_peak": last["step_peak"]["allocated_bytes"],
        "peak": max(last[part]["allocated_bytes"] for part in parts),
        "first_peak": max(row["steps"][0][part]["allocated_bytes"] for part in parts),
        "reserved": max(last[part]["reserved_bytes"] for part in parts),
        "driver": last["step_peak"]["driver_bytes"],
    }
    texts = {
        "after_step": "allocated after a step: weights and moments",
        "forward_end": "allocated at the end of the forward pass, from the second step on",
        "backward_peak": "allocated at the peak of the backward pass",
        "step_peak": "allocated at the peak of the optimizer's step",
        "peak": "allocated at the peak of a whole step, from the second step on",
        "first_peak": "allocated at the peak of the first step",
        "reserved": "reserved by PyTorch at most",
        "driver": "used by the driver's count, the context included",
    }
    setting = "FP32 weights under BF16 autocast" if way == AUTOCAST else "all in BF16"
    what = f"{id}, AdamW, {setting}, activations {recompute}, {batch} x {length} tokens"
    what += "" if at_once else ", parameters one after the other"
    for each, size in found.items():
        results[f"{name}_{each}_bytes"] = (size, "bytes", f"{texts[each]}: {what}")
    want = row["predicted"]
    line = " ".join(
        f"{part} {found[part] / 1e9:.3f} ({want[part + '_bytes'] / found[part] - 1:+.1%})"
        for part in ("forward_end", "backward_peak", "step_peak", "peak")
    )
    print(f"{name:46} {line} {row['seconds']:.1f} s", flush=True)


def main() -> None:
    """Measure case by case, and write the file after each shape."""
    import transformers

    results: Results = {}
    raw: dict[str, Any] = {"start_driver_bytes": driver_bytes()}
    torch.zeros(1, device="cuda")
    raw["context"] = held()
    for id, batch, lengths in SHAPES:
        for length in reversed(lengths):
            for way in (AUTOCAST, PURE):
                for recompute in (KEPT, RECOMPUTED):
                    measure(id, way, recompute, batch, length, results, raw)
        if id == SHAPES[0][0]:
            measure(id, AUTOCAST, RECOMPUTED, batch, lengths[0], results, raw, at_once=False)
        title = "Training: what three steps of AdamW take on one card"
        run = document("h200-llm-training", title, "src/gpumoat/bench/llm_training.py", results, raw)
        run["versions"]["transformers"] = transformers.__version__
        Path(sys.argv[1]).write_text(text_of(run), encoding="utf-8")


if __name__ == "__main__":
    main()
