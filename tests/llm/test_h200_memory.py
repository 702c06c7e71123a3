"""What was measured on an H200 against what the models say; what is not met stands in one list, with the reason.

Weights to the byte; the peak of answering, allocated and by the driver's count, within 2 %; training, by the rules
that the measuring script wrote down before it ran, within 5 %; decode within 5 %. A case that is met must not be in
the list.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import gpumoat
from gpumoat.bench.llm_shapes import config_of
from gpumoat.llm import report as rp
from gpumoat.llm.counts import total_parameters
from gpumoat.llm.load import read_config

RUNS = Path(gpumoat.__file__).parent / "data" / "measurements"
MEMORY, TRAINING, SAVED, DECODE = (
    json.loads((RUNS / f"h200-llm-{name}.json").read_text(encoding="utf-8"))
    for name in ("memory", "training", "saved", "decode")
)
INSIDE = ("weights", "kv", "state", "activations")

TABLES = (
    "the class keeps its inverse frequencies in fp32, 512 bytes a table and two tables a kind of layer: no term yet"
)
ORDER = "tensors of 1 to 10 MiB share segments: the bytes depend on the order (gpumoat.llm.allocator gives them)"
FUSED = "the class itself makes one matrix of several, as only serving programs are taken to do"
LOGITS = "the logits of every token are kept, 2 bytes each: the report counts those of the last token alone"
GAP = "reserved is 3 % above allocated: what the allocator keeps between tensors has no term yet"
SLIDING = "layers with a window keep the whole prompt's storage until the next token, and a mask of it: no term yet"
SMALL = "libraries' workspaces and a larger context: 0.1 GB, which is 4 % of so small a model"
LATENT = "this version of the library keeps latent vectors: the report counts whole keys and values"
BALANCED = LATENT + "; activations of expanded heads are missing, which hides half of it"

OPEN_WEIGHTS = {
    **dict.fromkeys(
        (
            "llama-3.1-8b llama-3.2-1b qwen2.5-7b mixtral-8x7b deepseek-v2-lite qwen3-30b-a3b qwen3-next-80b-a3b "
            "starcoder2-7b phi-3-mini-128k gemma-2-2b olmo-2-7b glm-4.5-air qwen2.5-1.5b mistral-nemo-12b"
        ).split(),
        TABLES,
    ),
    "gpt-j-6b": "the class keeps a table of sines and cosines in each layer, 512 KiB each in fp32: no term yet",
    "gemma-3-1b": ORDER,
    "gemma-3-4b": ORDER,
    "gpt2": ORDER,
    "gpt-oss-20b": ORDER,
    "falcon-7b": FUSED,
    "glm-4-9b-0414": FUSED,
}
LONG = ("1x8192", "4x2048", "16x512")
OPEN_ALLOCATED = {
    **{f"{id} {load}_all": LOGITS for id in ("llama-3.1-8b", "qwen2.5-7b", "gemma-3-1b") for load in LONG},
    "gemma-3-1b 1x512_all": LOGITS,
    "gemma-3-1b 1x8192_last": SLIDING,
    "gemma-3-1b 4x2048_last": SLIDING,
    **{f"deepseek-v2-lite {load}_{keep}": BALANCED for load in LONG for keep in ("all", "last")},
}
OPEN_DRIVER = {
    **{f"{id} {load}_all": LOGITS for id in ("llama-3.1-8b", "qwen2.5-7b", "gemma-3-1b") for load in ("1x512", *LONG)},
    **{f"deepseek-v2-lite {load}_all": LOGITS for load in LONG},
    **{f"{id} {load}_last": GAP for id in ("llama-3.1-8b", "qwen2.5-7b") for load in LONG},
    "gemma-3-1b 1x512_last": SMALL,
    **{f"gemma-3-1b {load}_last": SLIDING + "; " + SMALL for load in LONG},
}
COPIES = "under autocast each product keeps a 16-bit copy of its own of the same input: 6h a token and layer more"
OPEN_TRAINING = {
    "gpt2_autocast_kept_8x1024": "under autocast the powers of the library's GELU are fp32: three tensors of 4f more",
    "gpt2_autocast_kept_8x512": "under autocast the powers of the library's GELU are fp32: three tensors of 4f more",
    "tinyllama_1_1b_autocast_kept_4x2048": COPIES,
    "llama_3_2_1b_autocast_recomputed_4x512_one_by_one": "the rule holds one value more a parameter; one by one, none",
}
OPEN_DECODE = {
    "64": "products and attention read at a lower share; small kernels grow with the batch",
    "256": "the products of 256 sequences are bound by operations, not bytes: 3.8 TFLOP in 6.0 ms",
}


def judge(misses: dict[str, float], within: float, known: dict[str, str]) -> list[str]:
    """Return what is wrong with a list of open cases: cases missed but not named, and named but met or unknown."""
    missed = {name for name, miss in misses.items() if abs(miss) > within}
    faults = [f"{name} is off by {misses[name]:+.4g} and in no list" for name in sorted(missed - set(known))]
    return faults + [f"{name} is in the list, but met or not measured" for name in sorted(set(known) - missed)]


@cache
def predicted(id: str, layers: int, batch: int, length: int) -> rp.Report:
    """Return the report of a shape in the transformers library, in BF16."""
    made = read_config(config_of(id, layers), id)
    return rp.report(made, rp.Question(engine="transformers", dtype="bf16", context=length, batch=batch))


def answering() -> dict[str, dict[str, Any]]:
    """Return the prompts that were run, by model, load, and logits kept."""
    rows = MEMORY["raw"]["answering"]
    return {
        f"{id} {name}": row | {"id": id} for id, loads in rows.items() for name, row in loads.items() if name != "base"
    }


def test_everything_was_measured_and_nothing_failed():
    assert MEMORY["raw"]["failed"] == {}
    assert len(MEMORY["raw"]["weights"]) == 24
    assert len(answering()) == 32
    trained = {name: row for name, row in TRAINING["raw"].items() if isinstance(row, dict) and "way" in row}
    assert len(trained) == 33
    for row in [*MEMORY["raw"]["weights"].values(), *answering().values(), *trained.values()]:
        assert "failed" not in row


def test_parameters_are_the_library_s():
    for id, row in MEMORY["raw"]["weights"].items():
        ours = total_parameters(read_config(config_of(id, row["layers"]), id))
        # A bias that corrects a router is no parameter in these two classes, but a buffer.
        routers = {"nemotron-3-nano-30b-a3b": 23 * 128, "glm-4.5-air": 22 * 128}.get(id, 0)
        assert ours - routers == row["parameters_count"], id


def test_weights_to_the_byte():
    misses = {
        id: float(predicted(id, row["layers"], 1, 512).group_bytes("weights") - row["allocated_bytes"])
        for id, row in MEMORY["raw"]["weights"].items()
    }
    assert judge(misses, 0, OPEN_WEIGHTS) == []


def test_weights_whose_tables_are_missing_miss_by_nothing_else():
    for id, reason in OPEN_WEIGHTS.items():
        row = MEMORY["raw"]["weights"][id]
        if reason == TABLES and id != "glm-4.5-air":  # whose buffers are biases too, which the report counts
            missing = row["allocated_bytes"] - predicted(id, row["layers"], 1, 512).group_bytes("weights")
            assert missing == row["buffers_bytes"], id


def test_cache_a_token_to_the_byte():
    for id in ("llama-3.1-8b", "qwen2.5-7b"):
        for name, row in answering().items():
            if row["id"] == id:
                report = predicted(id, 0, row["batch"], row["length"])
                assert row["cache"]["values_bytes"] == report.group_bytes("kv"), name
                if "growth_bytes_per_token" in row:
                    assert row["growth_bytes_per_token"] == report.kv_bytes_per_token


def test_peaks_of_answering_as_allocated():
    misses = {}
    for name, row in answering().items():
        report = predicted(row["id"], 0, row["batch"], row["length"])
        misses[name] = sum(report.group_bytes(group) for group in INSIDE) / row["peak"]["allocated_bytes"] - 1
    assert judge(misses, 0.02, OPEN_ALLOCATED) == []


def test_peaks_of_answering_by_the_driver_s_count():
    misses = {}
    for name, row in answering().items():
        report = predicted(row["id"], 0, row["batch"], row["length"])
        misses[name] = report.total_bytes / row["peak"]["driver_bytes"] - 1
    assert judge(misses, 0.02, OPEN_DRIVER) == []


def test_training_by_the_rules_written_down_before():
    misses = {
        name: row["predicted"]["peak_bytes"] / TRAINING["results"][f"{name}_peak_bytes"]["value"] - 1
        for name, row in TRAINING["raw"].items()
        if isinstance(row, dict) and "way" in row
    }
    assert judge(misses, 0.05, OPEN_TRAINING) == []


def test_what_a_pass_saves_is_what_the_allocator_grew_by():
    rows = [row for row in SAVED["raw"].values() if isinstance(row, dict) and "way" in row]
    assert len(rows) == 17
    for row in rows:
        assert row["saved_bytes"] == pytest.approx(row["grown_bytes"], rel=0.004)


def test_decode_is_below_its_bound_and_as_expected_for_small_batches():
    results = DECODE["results"]
    misses = {}
    for batch in ("1", "4", "16", "64", "256"):
        taken, expected, bound = (
            results[f"batch_{batch}_{name}"]["value"]
            for name in ("tokens_per_s", "predicted_tokens_per_s", "bound_tokens_per_s")
        )
        assert taken < bound
        assert results[f"batch_{batch}_error_share"]["value"] < 0.06
        misses[batch] = expected / taken - 1
    assert judge(misses, 0.05, OPEN_DECODE) == []


def test_a_wrong_prediction_and_a_stale_entry_are_found():
    """Planted faults for the judge."""
    assert judge({"a": 0.0, "b": 0.03}, 0.02, {"b": "why"}) == []
    assert judge({"a": -0.021}, 0.02, {}) == ["a is off by -0.021 and in no list"]
    assert judge({"a": 0.01}, 0.02, {"a": "why"}) == ["a is in the list, but met or not measured"]
    assert judge({}, 0.02, {"gone": "why"}) == ["gone is in the list, but met or not measured"]
