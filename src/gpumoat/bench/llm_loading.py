"""What the weights of a model take that is read from files, beside those of one that is made in place.

Before it reads, the transformers library takes and lets go one block of about the size of all weights, so that the
driver is asked once. The tensors are then cut from that block, and the allocator's rule for large tensors, which is
about what is left of a segment of their own, no longer applies.

    PYTHONPATH=src python -m gpumoat.bench.llm_loading h200-llm-loading.json

Promises: the same shape made in place and read from files, in one process, with all memory given back between. Left
out: how long reading takes, which here is from memory.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers

from gpumoat.bench.llm_memory import Results, _failed, _tails, key
from gpumoat.bench.llm_shapes import config_of, emptied, fill, held, make, peaks, start, tensors, text_of
from gpumoat.bench.run import document
from gpumoat.llm.allocator import allocated_in_order

SHAPES = ("gpt2", "gemma-3-1b", "llama-3.2-1b", "qwen2.5-1.5b", "gemma-3-4b")


def compare(id: str) -> dict[str, Any]:
    """Make a model in place, write it, read it again, and return what each way takes."""
    row: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        with emptied():
            before = held()
            model = make(config_of(id), torch.bfloat16)
            after = held()
            row["made"] = {name: after[name] - before[name] for name in before}
            fill(model)
            sizes = [one.numel() * one.element_size() for _, one in tensors(model)]
            row["rounded_bytes"] = sum(-(-size // 512) * 512 for size in sizes)
            row["in_order_bytes"] = allocated_in_order(sizes)
            model.save_pretrained(folder)
            kind = type(model)
            del model
        with emptied():
            before = start()
            model = kind.from_pretrained(folder, dtype=torch.bfloat16, device_map="cuda")
            row["peak"] = peaks()
            after = held()
            row["read"] = {name: after[name] - before[name] for name in before}
            row["kept_tails"] = _tails()
            del model
    return row


def main() -> None:
    """Measure shape by shape, and write the file after each."""
    results: Results = {}
    raw: dict[str, Any] = {}
    torch.zeros(1, device="cuda")
    make(config_of("smollm2-360m"), torch.bfloat16)
    for id in SHAPES:
        row: dict[str, Any] = {"predicted": "512 bytes of rounding a tensor, and no more, where read from files"}
        raw[id] = row
        try:
            row |= compare(id)
        except Exception as failure:
            _failed(row, failure)
            continue
        for way, text in (("made", "made in place"), ("read", "read from files")):
            for count in ("allocated", "reserved"):
                size = row[way][f"{count}_bytes"]
                results[f"{key(id)}_{way}_{count}_bytes"] = (
                    size,
                    "bytes",
                    f"{count} for the weights of {id}, {text}, BF16",
                )
        results[f"{key(id)}_rounded_bytes"] = (row["rounded_bytes"], "bytes", f"tensors of {id} in whole 512 bytes")
        made, read = row["made"]["allocated_bytes"], row["read"]["allocated_bytes"]
        print(
            f"{id:16} made {made:15,} (in order {made - row['in_order_bytes']:+,}) "
            f"read {read:15,} (rounded {read - row['rounded_bytes']:+,})",
            flush=True,
        )
        title = "Weights made in place and read from files"
        run = document("h200-llm-loading", title, "src/gpumoat/bench/llm_loading.py", results, raw)
        run["versions"]["transformers"] = transformers.__version__
        Path(sys.argv[1]).write_text(text_of(run), encoding="utf-8")


if __name__ == "__main__":
    main()
