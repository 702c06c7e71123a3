"""Tokens a second of Llama 3.1 8B's shape under CUDA graphs, for batches from 1 to 256, against what the bytes allow.

The model is that of `gpumoat.bench.decode`, with many sequences instead of one: each step writes the last of CONTEXT
tokens of every sequence and reads them all.

    PYTHONPATH=src python -m gpumoat.bench.llm_decode h200-llm-decode.json

Promises: the bound is the bytes that a step must read (all weights but the table of embeddings, a row of that for each
sequence, and the cache) over the copy rate measured in the same run; the scores of each batch are compared with those
of the same rounded weights in float32. The times expected are the bytes at the copy rate, plus what a step of one
sequence took beyond them in an earlier run. Left out: compiled layers, sampling, and a context that grows.
"""

import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu

from gpumoat.bench.decode import (
    CONTEXT,
    EPSILON,
    FORWARD,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KEY_HEADS,
    LAYERS,
    VOCABULARY,
    Layer,
    Model,
    as_graph,
)
from gpumoat.bench.llm_shapes import emptied, held, text_of
from gpumoat.bench.run import copy_bytes_per_s, document, relative_error, seconds
from gpumoat.facts import measured

BATCHES = (1, 4, 16, 64, 256)


class BatchLayer(Layer):
    """A layer whose cache holds many sequences."""

    def hold(self, batch: int) -> None:
        """Make room for so many sequences, filled with random tokens."""
        for name in ("keys", "values"):
            made = torch.randn(batch, KEY_HEADS, CONTEXT, HEAD_DIM, dtype=torch.bfloat16, device="cuda")
            setattr(self, name, made)

    def forward(self, x: Any, cosine: Any, sine: Any, position: Any) -> Any:
        """Return the hidden states of one new token a sequence; write their keys and values to the cache."""
        batch = x.shape[0]
        q, k, v = (
            linear(rms_norm(x, (HIDDEN,), self.norm1, EPSILON), self.qkv)
            .view(batch, 1, -1, HEAD_DIM)
            .transpose(1, 2)
            .split((HEADS, KEY_HEADS, KEY_HEADS), 1)
        )
        q, k = (each * cosine + torch.cat((-each[..., HEAD_DIM // 2 :], each[..., : HEAD_DIM // 2]), -1) * sine
                for each in (q, k))  # fmt: skip
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        mixed = scaled_dot_product_attention(q, self.keys, self.values, enable_gqa=True)
        x = x + linear(mixed.transpose(1, 2).reshape(batch, 1, -1), self.o)
        gate, up = linear(rms_norm(x, (HIDDEN,), self.norm2, EPSILON), self.gate_up).chunk(2, -1)
        return x + linear(silu(gate) * up, self.down)


class BatchModel(Model):
    """The whole model for many sequences."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(BatchLayer() for _ in range(LAYERS))

    def forward(self, token: Any, position: Any) -> Any:
        """Return the scores of the token that follows in each sequence."""
        x = self.embedding[token][:, None]
        cosine, sine = self.cosine[position], self.sine[position]
        for layer in self.layers:
            x = layer(x, cosine, sine, position)
        return linear(rms_norm(x, (HIDDEN,), self.norm, EPSILON), self.head)


def step_bytes(parameters: int, batch: int) -> int:
    """Return the bytes that a step must read."""
    cache = 2 * LAYERS * KEY_HEADS * HEAD_DIM * CONTEXT * batch
    return 2 * (parameters - VOCABULARY * HIDDEN + HIDDEN * batch + cache)


def step_flop(parameters: int, batch: int) -> int:
    """Return the operations of a step: two a weight but the embedding's, and four a head's value of the cache."""
    return 2 * (parameters - VOCABULARY * HIDDEN) * batch + 4 * LAYERS * HEADS * HEAD_DIM * CONTEXT * batch


def measure(work: Callable[[], object], steps: int) -> list[float]:
    """Return the times of a step, in seconds, each the mean of a few, waits between launches counted."""

    def run() -> None:
        for _ in range(steps):
            work()

    return [each / steps for each in seconds(run, repeats=7, warm=2)]


def kernel_times(work: Callable[[], object]) -> dict[str, tuple[int, float]]:
    """Return how often each kernel of a step runs and for how many seconds in all, the longest first."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        work()
        torch.cuda.synchronize()
    events = sorted(watched.key_averages(), key=lambda event: -event.device_time_total)
    return {event.key: (event.count, event.device_time_total / 1e6) for event in events if event.device_time_total > 0}


def main() -> None:
    """Measure batch by batch, and write the file after each."""
    torch.manual_seed(1)
    copy = copy_bytes_per_s()
    beyond = float(measured("h200-decode", "graph_s")) - float(measured("h200-decode", "floor_s"))
    results: dict[str, tuple[float, str, str]] = {
        "copy_bytes_per_s": (copy, "bytes/s", "copy of 4 GiB within the card's memory, read and written bytes"),
        "beyond_s": (beyond, "s", "what a step of one sequence took beyond its bytes in an earlier run"),
        "context_count": (CONTEXT, "", "tokens of each sequence in the cache"),
    }
    raw: dict[str, Any] = {"batches": {}, "widths": {"layers": LAYERS, "hidden": HIDDEN, "forward": FORWARD}}
    with torch.no_grad(), torch.device("cuda"):
        model = BatchModel().bfloat16()
        parameters = sum(each.numel() for each in model.parameters())
        results["parameters_count"] = (parameters, "", "parameters of the model")
        position = torch.tensor([CONTEXT - 1])
        for batch in BATCHES:
            with emptied():
                run_batch(model, parameters, position, batch, copy, beyond, results, raw["batches"])
            title = "Decode steps of an 8B shape under CUDA graphs, by batch"
            run = document("h200-llm-decode", title, "src/gpumoat/bench/llm_decode.py", results, raw)
            Path(sys.argv[1]).write_text(text_of(run), encoding="utf-8")


def run_batch(
    model: Any,
    parameters: int,
    position: Any,
    batch: int,
    copy: float,
    beyond: float,
    results: dict[str, tuple[float, str, str]],
    raw: dict[str, Any],
) -> None:
    """Record a graph of one step of so many sequences, check its scores, and time it."""
    for layer in model.layers:
        layer.hold(batch)
    first = torch.randint(0, VOCABULARY, (batch,))
    token = first.clone()
    plain = {name: each.float() for name, each in model.state_dict().items()}
    truth = torch.func.functional_call(model, plain, (first, position)).clone()
    del plain
    torch.cuda.empty_cache()

    def step() -> Any:
        scores = model(token, position)
        token.copy_(scores.argmax(-1)[:, 0])
        return scores

    before = held()
    replay, out = as_graph(step)
    after = held()
    token.copy_(first)
    replay()
    error = relative_error(out, truth)
    times = measure(replay, steps=20 if batch < 64 else 10)
    taken = statistics.median(times)
    size, flop = step_bytes(parameters, batch), step_flop(parameters, batch)
    floor, expected = size / copy, size / copy + beyond
    raw[str(batch)] = {
        "times_s": times,
        "error": error,
        "step_bytes": size,
        "step_flop": flop,
        "predicted_s": expected,
        "before": before,
        "after": after,
        "kernels_s": kernel_times(replay),
    }
    what = f"a decode step of {batch} sequences, Llama 3.1 8B's shape, BF16, context {CONTEXT}, CUDA graph"
    for name, value, unit, text in (
        ("s", taken, "s", f"{what}, median"),
        ("tokens_per_s", batch / taken, "tokens/s", what),
        ("step_bytes", size, "bytes", f"what must be read in {what}"),
        ("bound_tokens_per_s", batch / floor, "tokens/s", f"those bytes at the copy rate: {what}"),
        ("bound_share", floor / taken, "", f"share of the memory bound: {what}"),
        ("predicted_tokens_per_s", batch / expected, "tokens/s", f"expected before the run: {what}"),
        ("error_share", error, "", f"relative error of the scores: {what}"),
    ):
        results[f"batch_{batch}_{name}"] = (value, unit, text)
    print(
        f"batch {batch:4}: {batch / taken:9,.0f} tokens/s, predicted {batch / expected:9,.0f}, "
        f"bound {batch / floor:9,.0f}, share {floor / taken:.2f}, error {error:.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
