"""One token after another from a model of Llama 3.1 8B's shape: as PyTorch runs it, as a graph, and compiled.

The model is plain PyTorch of our own, with random weights in BF16: embedding, layers of attention with shared keys
and rotated positions, a gated feed-forward block, norms, and the product that gives the next token. One sequence; the
cache holds CONTEXT tokens, of which the step writes the last one and reads all.

* eager: each operation is launched by Python, one after the other;
* graph: the same launches, recorded once as a CUDA graph and replayed;
* compiled: the layers by ``torch.compile``, then recorded as a graph as well.

    PYTHONPATH=src python -m gpumoat.bench.decode > src/gpumoat/data/measurements/h200-decode.json

Promises: the bytes counted are what a step must read: all weights but the table of embeddings, one row of that, and the
cache; the bound is those bytes over the copy rate measured in the same run; each way's logits are compared with the
same model in float32. Left out: other batches and contexts, sampling, and a context that grows.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu

from gpumoat.bench.run import code_lines, copy_bytes_per_s, document, launched, relative_error, seconds

CONTEXT = 512
HIDDEN, LAYERS, HEADS, KEY_HEADS, HEAD_DIM, FORWARD, VOCABULARY = 4096, 32, 32, 8, 128, 14336, 128256
BASE, EPSILON = 500000.0, 1e-5
FIRST = 17  # the token that every check begins with: any would do
EXPECTED = {"eager": 120.0, "graph": 194.0, "compiled": 230.0}  # tokens/s; the graph's from an earlier, rougher run


class Layer(nn.Module):  # type: ignore[misc]
    """One layer: attention with shared keys and a gated feed-forward block."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = (nn.Parameter(torch.ones(HIDDEN)) for _ in range(2))
        width = (HEADS + 2 * KEY_HEADS) * HEAD_DIM
        self.qkv = nn.Parameter(0.02 * torch.randn(width, HIDDEN))
        self.o = nn.Parameter(0.02 * torch.randn(HIDDEN, HEADS * HEAD_DIM))
        self.gate_up = nn.Parameter(0.02 * torch.randn(2 * FORWARD, HIDDEN))
        self.down = nn.Parameter(0.02 * torch.randn(HIDDEN, FORWARD))
        self.register_buffer("keys", torch.randn(1, KEY_HEADS, CONTEXT, HEAD_DIM))
        self.register_buffer("values", torch.randn(1, KEY_HEADS, CONTEXT, HEAD_DIM))

    def forward(self, x: Any, cosine: Any, sine: Any, position: Any) -> Any:
        """Return the hidden state of one new token; writes its key and value to the cache."""
        q, k, v = (
            linear(rms_norm(x, (HIDDEN,), self.norm1, EPSILON), self.qkv)
            .view(1, 1, -1, HEAD_DIM)
            .transpose(1, 2)
            .split((HEADS, KEY_HEADS, KEY_HEADS), 1)
        )
        q, k = (each * cosine + torch.cat((-each[..., HEAD_DIM // 2 :], each[..., : HEAD_DIM // 2]), -1) * sine
                for each in (q, k))  # fmt: skip
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        mixed = scaled_dot_product_attention(q, self.keys, self.values, enable_gqa=True)
        x = x + linear(mixed.transpose(1, 2).reshape(1, 1, -1), self.o)
        gate, up = linear(rms_norm(x, (HIDDEN,), self.norm2, EPSILON), self.gate_up).chunk(2, -1)
        return x + linear(silu(gate) * up, self.down)


class Model(nn.Module):  # type: ignore[misc]
    """The whole: embedding, layers, norm, and the scores of the next token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Parameter(0.02 * torch.randn(VOCABULARY, HIDDEN))
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.Parameter(torch.ones(HIDDEN))
        self.head = nn.Parameter(0.02 * torch.randn(VOCABULARY, HIDDEN))
        angle = torch.outer(torch.arange(CONTEXT), BASE ** -(torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)).repeat(1, 2)
        self.register_buffer("cosine", angle.cos())
        self.register_buffer("sine", angle.sin())

    def forward(self, token: Any, position: Any) -> Any:
        """Return the scores of the token that follows."""
        x = self.embedding[token][None]
        cosine, sine = self.cosine[position], self.sine[position]
        for layer in self.layers:
            x = layer(x, cosine, sine, position)
        return linear(rms_norm(x, (HIDDEN,), self.norm, EPSILON), self.head)


def as_graph(step: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
    """Return a replay of a step, and the tensor that a replay writes."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step()
    return graph.replay, out


def compile_layers(model: Any) -> None:
    """Compile each layer: all have the same code, so it is compiled once."""
    for layer in model.layers:
        layer.compile(fullgraph=True)


def measure(work: Callable[[], object], steps: int = 20) -> float:
    """Return the median time of a step, in seconds, over runs of some steps each: waits between launches count."""

    def run() -> None:
        for _ in range(steps):
            work()

    return statistics.median(seconds(run, repeats=7, warm=2)) / steps


def main() -> None:
    """Measure, and print the run as JSON."""
    torch.manual_seed(1)
    copy = copy_bytes_per_s()
    with torch.no_grad(), torch.device("cuda"):
        model = Model()
        token, position = torch.randint(0, VOCABULARY, (1,)), torch.tensor([CONTEXT - 1])
        model = model.bfloat16()
        parameters = sum(each.numel() for each in model.parameters())
        cache = sum(each.keys.numel() + each.values.numel() for each in model.layers)
        step_bytes = 2 * (parameters - model.embedding.numel() + HIDDEN + cache)
        floor = step_bytes / copy

        def step() -> Any:
            scores = model(token, position)
            token.copy_(scores.argmax(-1)[0])
            return scores

        rows: dict[str, dict[str, Any]] = {}

        def note(name: str, work: Callable[[], object], scores: Callable[[], Any], lines: int) -> None:
            token.fill_(FIRST)
            error = relative_error(scores(), truth)
            taken = measure(work)
            rows[name] = {"seconds": taken, "tokens_per_s": 1 / taken, "error": error, "lines": lines}

        # The same rounded weights in float32.
        plain = {name: each.float() for name, each in model.state_dict().items()}
        truth = torch.func.functional_call(model, plain, (torch.full_like(token, FIRST), position)).clone()
        del plain

        note("eager", step, step, code_lines(step))
        rows["eager"]["launches"] = sum(launched(step).values())
        replay, out = as_graph(step)

        def replayed() -> Any:
            replay()
            return out

        note("graph", replay, replayed, code_lines(as_graph))
        rows["graph"]["launches"] = sum(launched(replay).values())
        try:
            began = time.monotonic()
            compile_layers(model)
            step()
            replay2, out2 = as_graph(step)

            def replayed2() -> Any:
                replay2()
                return out2

            note("compiled", replay2, replayed2, code_lines(compile_layers) + code_lines(as_graph))
            rows["compiled"]["launches"] = sum(launched(replay2).values())
            rows["compiled"]["compile_s"] = time.monotonic() - began
        except Exception as failure:  # whether it works without a network is part of the record
            print("compiled", failure, file=sys.stderr)
            rows["compiled"] = {"failed": str(failure)[:600]}
    what = f"a decode step, {LAYERS} layers of Llama 3.1 8B's shape, BF16, one sequence, context {CONTEXT}"
    results: dict[str, tuple[float, str, str]] = {
        "copy_bytes_per_s": (copy, "bytes/s", "copy of 4 GiB within the card's memory, read and written bytes"),
        "parameters_count": (parameters, "", "parameters of the model"),
        "context_count": (CONTEXT, "", "tokens in the cache"),
        "step_bytes": (step_bytes, "bytes", "weights and cache that a step must read"),
        "floor_s": (floor, "s", "those bytes at the copy rate"),
    }
    for name, row in rows.items():
        if "failed" in row:
            continue
        results[f"{name}_s"] = (row["seconds"], "s", f"{what}, {name}, median")
        results[f"{name}_tokens_per_s"] = (row["tokens_per_s"], "tokens/s", f"{what}, {name}")
        results[f"{name}_bound_share"] = (floor / row["seconds"], "", f"share of the memory bound: {what}, {name}")
        results[f"{name}_error_share"] = (row["error"], "", f"{what}, {name}: relative error of the scores")
        results[f"{name}_launches_count"] = (row["launches"], "", f"kernels that {what} launches, {name}")
        results[f"{name}_lines_count"] = (row["lines"], "", f"lines of code that {name} adds to the model")
        results[f"{name}_predicted_tokens_per_s"] = (EXPECTED[name], "tokens/s", f"expected of {name} before the run")
    raw = {"predicted": EXPECTED, "rows": rows}
    json.dump(
        document("h200-decode", "A decode step, three ways", "src/gpumoat/bench/decode.py", results, raw),
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
