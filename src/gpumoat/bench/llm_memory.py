"""What language models of published shapes take on one card: weights to the byte, and the peaks of answering.

Three parts, each written to the file as soon as it is done:

* context: what the driver counts before anything, with an empty context, after a kernel, and after libraries;
* weights: what the caching allocator counts for the weights of some twenty shapes in BF16, beside what it was asked
  for and what its rules give for the very same tensors, so that a miss can be told from a wrong count of parameters;
* answering: the forward pass over a whole prompt with all logits kept or the last token's alone, then three tokens.

    PYTHONPATH=src python -m gpumoat.bench.llm_memory h200-llm-memory.json

Promises: predicted first, by ``gpumoat.llm``, and both written down; each figure three times, as allocated, reserved,
and counted by the driver. Attention is the library's SDPA. Left out: speed, several cards, serving programs.
"""

import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from gpumoat.bench.llm_shapes import config_of, driver_bytes, emptied, fill, held, make, peaks, start, tensors, text_of
from gpumoat.bench.run import document
from gpumoat.llm import report as rp
from gpumoat.llm.allocator import allocated_in_order
from gpumoat.llm.load import read_config
from gpumoat.llm.weights import allocated_bytes

Results = dict[str, tuple[float, str, str]]

PLAIN_ROTARY = {"rope_scaling": None}  # the catalogue's entry leaves out the two lists of factors
SHAPES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("llama-3.1-8b", 0, {}),
    ("llama-3.2-1b", 0, {}),
    ("qwen2.5-7b", 0, {}),
    ("gemma-3-1b", 0, {}),
    ("gpt2", 0, {}),
    ("mixtral-8x7b", 0, {}),
    ("deepseek-v2-lite", 0, {}),
    ("qwen3-30b-a3b", 0, {}),
    ("qwen3-next-80b-a3b", 24, {}),
    ("starcoder2-7b", 0, {}),
    ("phi-3-mini-128k", 0, PLAIN_ROTARY),
    ("gemma-2-2b", 0, {}),
    ("gemma-3-4b", 0, {}),
    ("falcon-7b", 0, {}),
    ("glm-4-9b-0414", 0, {}),
    ("gpt-oss-20b", 0, {}),
    ("bloom-7b1", 0, {}),
    ("olmo-2-7b", 0, {}),
    ("gpt-j-6b", 0, {}),
    ("nemotron-3-nano-30b-a3b", 0, {}),
    ("jamba-v0.1", 0, {}),
    ("glm-4.5-air", 23, {}),
    ("qwen2.5-1.5b", 0, {}),
    ("mistral-nemo-12b", 0, {}),
)
"""Models of the catalogue whose weights are made, with fewer layers where a number says so, and changes."""

ALL, LAST = "all", "last"
LOADS = ((1, 512), (1, 8192), (4, 2048), (16, 512))
ANSWERING = ("llama-3.1-8b", "qwen2.5-7b", "gemma-3-1b", "deepseek-v2-lite")
STEPS = 3


def key(text: str) -> str:
    """Return a model's id as part of a result's name."""
    return text.replace("-", "_").replace(".", "_")


def predicted(config: dict[str, Any], id: str, batch: int, length: int) -> dict[str, int]:
    """Return what ``gpumoat.llm`` says a model takes in the transformers library, by group, in BF16."""
    question = rp.Question(engine="transformers", dtype="bf16", context=length, batch=batch)
    found = rp.report(read_config(config, id), question)
    names = ("weights", "kv", "state", "activations", "overhead")
    groups = {f"{name}_bytes": found.group_bytes(name) for name in names}
    return groups | {"kv_bytes_per_token": found.kv_bytes_per_token, "total_bytes": found.total_bytes}


def measure_context(results: Results, raw: dict[str, Any]) -> None:
    """Read the driver's count step by step from a process that has not touched the card yet."""
    if torch.cuda.is_initialized():
        raise RuntimeError("the context must be measured first")
    raw["start_driver_bytes"] = last = driver_bytes()

    def note(name: str, what: str) -> None:
        nonlocal last
        now = held()
        raw[name] = now
        results[f"{name}_bytes"] = (now["driver_bytes"] - last, "bytes", f"the driver's count grows: {what}")
        last = now["driver_bytes"]

    torch.cuda.init()
    torch.cuda.synchronize()
    note("context", "an empty CUDA context")
    x = torch.empty(2048, 2048, device="cuda", dtype=torch.bfloat16)
    note("first_tensor", "a tensor of 8 MiB, from a segment of 20 MiB")
    x.normal_()
    note("first_kernel", "after the first kernel")
    y = x @ x
    note("cublas", "after the first product in BF16, its result of 8 MiB from the same segment")
    linear = torch.nn.functional.linear(x, x, x[0])
    note("cublas_bias", "after the first product with a bias")
    heads = x.view(1, 2048, 16, 128).transpose(1, 2)
    torch.nn.functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
    note("attention", "after the first attention")
    del y, linear, heads, x
    before = held()["allocated_bytes"]
    torch._C._cuda_clearCublasWorkspaces()
    size = before - held()["allocated_bytes"]
    text = "allocated by cuBLAS for its workspaces, within PyTorch's count"
    results["cublas_workspace_bytes"] = (size, "bytes", text)
    results["total_bytes"] = (torch.cuda.get_device_properties(0).total_memory, "bytes", "memory that PyTorch reports")


def measure_weights(results: Results, raw: dict[str, Any]) -> None:
    """Make each shape's weights alone on the card, and compare three counts of them."""
    make(config_of("smollm2-360m"), torch.bfloat16)  # the first model of a process leaves 512 bytes behind
    for id, layers, changes in SHAPES:
        began = time.monotonic()
        config = config_of(id, layers, changes)
        row: dict[str, Any] = {"layers": layers, "changes": changes, "predicted": predicted(config, id, 1, 512)}
        raw[id] = row
        try:
            with emptied():
                before = held()
                model = make(config, torch.bfloat16)
                torch.cuda.synchronize()
                after = held()
                each = [(name, one.numel() * one.element_size()) for name, one in tensors(model)]
                names = {"." + name for name, _ in model.named_buffers()} | {name for name, _ in model.named_buffers()}
                row["parameters_count"] = sum(one.numel() for one in model.parameters())
                row["rule_bytes"] = sum(allocated_bytes(size) for _, size in each)
                row["in_order_bytes"] = allocated_in_order([size for _, size in each])
                row["buffers_bytes"] = sum(allocated_bytes(size) for name, size in each if name in names)
                row["sizes_bytes"] = [[size, len(list(same))] for size, same in groupby(size for _, size in each)]
                for name in before:
                    row[name] = after[name] - before[name]
                row["kept_tails"] = _tails()
                del model
        except Exception as failure:
            _failed(row, failure)
            continue
        row["seconds"] = time.monotonic() - began
        named = f"{id}, {layers} layers" if layers else id
        results[f"{key(id)}_weights_bytes"] = (
            row["allocated_bytes"],
            "bytes",
            f"allocated for the weights of {named} and what the class keeps beside them, BF16",
        )
        text = f"reserved for the same: {named}"
        results[f"{key(id)}_weights_reserved_bytes"] = (row["reserved_bytes"], "bytes", text)
        results[f"{key(id)}_parameters_count"] = (row["parameters_count"], "", f"parameters of {named} in the library")
        want = row["predicted"]["weights_bytes"]
        print(
            f"{id:26}{row['allocated_bytes']:16,} predicted {want:16,} miss {row['allocated_bytes'] - want:12,} "
            f"rule {row['allocated_bytes'] - row['rule_bytes']:10,} "
            f"in order {row['allocated_bytes'] - row['in_order_bytes']:10,} buffers {row['buffers_bytes']:8,} "
            f"{row['seconds']:.1f} s"
        )


def _tails() -> dict[str, int]:
    """Return how many allocated blocks are longer than asked for by more than rounding, by their two sizes."""
    found: Counter[str] = Counter()
    for segment in torch.cuda.memory_snapshot():
        for block in segment["blocks"]:
            asked = -(-block.get("requested_size", 0) // 512) * 512
            if block["state"] == "active_allocated" and block["size"] > asked:
                found[f"{block['requested_size']} in {block['size']}"] += 1
    return dict(found)


def _failed(row: dict[str, Any], failure: Exception) -> None:
    traceback.clear_frames(failure.__traceback__)
    row["failed"] = f"{type(failure).__name__}: {failure}"[:400]
    print("failed", row["failed"])


def cache_bytes(cache: Any) -> dict[str, int]:
    """Return what a cache's keys and values hold: their values, and the storage that they lie in."""
    values = storage = 0
    for layer in cache.layers:
        for name in ("keys", "values"):
            one = getattr(layer, name, None)
            if isinstance(one, torch.Tensor):
                values += one.numel() * one.element_size()
                storage += one.untyped_storage().nbytes()
    return {"values_bytes": values, "storage_bytes": storage}


def answer(model: Any, vocabulary: int, batch: int, length: int, keep: str) -> dict[str, Any]:
    """Run one prompt, and where only the last logits are kept three tokens more; return all counts."""
    row: dict[str, Any] = {}
    with emptied():
        ids = torch.randint(0, vocabulary, (batch, length), device="cuda")
        row["before"] = start()
        out = model(ids, use_cache=True, logits_to_keep=1 if keep == LAST else 0)
        row["peak"] = peaks()
        row["after"] = held()
        row["logits_bytes"] = out.logits.untyped_storage().nbytes()
        row["cache"] = cache_bytes(out.past_key_values)
        row["finite"] = bool(torch.isfinite(out.logits[:, -1]).all())
        if keep == LAST:
            token = out.logits[:, -1:].argmax(-1)
            cache = out.past_key_values
            del out
            row["steps"] = []
            for _ in range(STEPS):
                start()
                out = model(token, past_key_values=cache, use_cache=True)
                row["steps"].append({"peak": peaks(), "after": held(), "cache": cache_bytes(cache)})
                token = out.logits[:, -1:].argmax(-1)
                del out
            del cache, token
        else:
            del out
        del ids
    return row


def measure_answering(id: str, results: Results, raw: dict[str, Any]) -> None:
    """Measure the peaks of one shape for all loads."""
    config = config_of(id)
    rows: dict[str, Any] = {}
    raw[id] = rows
    with emptied(), torch.no_grad():
        empty = held()
        model = make(config, torch.bfloat16).eval()
        fill(model)
        weights = held()["allocated_bytes"] - empty["allocated_bytes"]
        vocabulary = config.get("vocab_size") or model.config.vocab_size
        answer(model, vocabulary, 1, 64, LAST)  # libraries take their workspaces before we count
        rows["base"] = {"weights_bytes": weights, "warm": held(), "attention": model.config._attn_implementation}
        for batch, length in LOADS:
            for keep in (ALL, LAST):
                name = f"{batch}x{length}_{keep}"
                want = predicted(config, id, batch, length)
                row: dict[str, Any] = {"batch": batch, "length": length, "keep": keep, "predicted": want}
                rows[name] = row
                try:
                    row |= answer(model, vocabulary, batch, length, keep)
                except Exception as failure:
                    _failed(row, failure)
                    continue
                what = f"{id}, {batch} x {length} tokens, {'all logits' if keep == ALL else 'last logits'}, BF16"
                for count in ("allocated", "reserved", "driver"):
                    results[f"{key(id)}_{name}_{count}_bytes"] = (
                        row["peak"][f"{count}_bytes"],
                        "bytes",
                        f"{count} at the peak of the prompt, weights included: {what}",
                    )
                results[f"{key(id)}_{name}_cache_bytes"] = (
                    row["cache"]["values_bytes"],
                    "bytes",
                    f"keys and values in the cache: {what}",
                )
                line = f"{id:18}{name:14} peak {row['peak']['allocated_bytes']:15,} "
                inside = sum(want[f"{group}_bytes"] for group in ("weights", "kv", "state", "activations"))
                line += f"predicted {inside:15,} {inside / row['peak']['allocated_bytes'] - 1:+.2%} "
                line += f"kv {row['cache']['values_bytes'] - want['kv_bytes']:+,} "
                if keep == LAST:
                    step = row["steps"][-1]
                    results[f"{key(id)}_{batch}x{length}_step_allocated_bytes"] = (
                        max(one["peak"]["allocated_bytes"] for one in row["steps"]),
                        "bytes",
                        f"allocated at the peak of the three tokens after the prompt: {what}",
                    )
                    grown = step["cache"]["values_bytes"] - row["steps"][0]["cache"]["values_bytes"]
                    row["growth_bytes_per_token"] = grown / batch / (STEPS - 1)
                    results[f"{key(id)}_{batch}x{length}_growth_bytes_per_token"] = (
                        row["growth_bytes_per_token"],
                        "bytes/token",
                        f"what one token more adds to the cache of a sequence: {what}",
                    )
                    line += f"a token {row['growth_bytes_per_token']:,.0f} of {want['kv_bytes_per_token']:,}"
                print(line, flush=True)
        del model


def main() -> None:
    """Measure part by part, and write the file after each."""
    import transformers

    results: Results = {}
    raw: dict[str, Any] = {"context": {}, "weights": {}, "answering": {}, "failed": {}}
    began = time.monotonic()
    target = Path(sys.argv[1])
    title = "Weights and answering: what language models take on one card"
    parts: list[tuple[str, Callable[[], None]]] = [
        ("context", lambda: measure_context(results, raw["context"])),
        ("weights", lambda: measure_weights(results, raw["weights"])),
        *((id, partial(measure_answering, id, results, raw["answering"])) for id in ANSWERING),
    ]
    for name, part in parts:
        try:
            part()
        except Exception as failure:
            traceback.print_exc()
            traceback.clear_frames(failure.__traceback__)
            raw["failed"][name] = f"{type(failure).__name__}: {failure}"[:400]
        raw[f"{name}_s"] = time.monotonic() - began
        run = document("h200-llm-memory", title, "src/gpumoat/bench/llm_memory.py", results, raw)
        run["versions"]["transformers"] = transformers.__version__
        target.write_text(text_of(run), encoding="utf-8")
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
