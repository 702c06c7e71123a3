"""What is the library worth? A product of matrices, attention, and a token: written by oneself, and by the library."""

from gpumoat import gpu, measured

card = gpu("h200-sxm")
small_rows = measured("h200-products", "small_rows_count")
large_rows = measured("h200-products", "large_rows_count")

# The ladder: who wrote the kernel and for which numbers, and the peak of the units that work on those.
rungs = {
    "naive": ("first kernel", "numba, as first written", "fp32_vector_flop_per_s"),
    "tiled": ("tiles", "numba, tiles", "fp32_vector_flop_per_s"),
    "register_blocked": ("registers", "numba, sums in registers", "fp32_vector_flop_per_s"),
    "register_blocked_wide": ("wide reads", "numba, wide reads", "fp32_vector_flop_per_s"),
    "library_fp32": ("library FP32", "library, FP32", "fp32_vector_flop_per_s"),
    "library_tf32": ("library TF32", "library, TF32", "tf32_dense_flop_per_s"),
    "triton_bf16": ("Triton BF16", "Triton, BF16", "bf16_dense_flop_per_s"),
    "library_bf16": ("library BF16", "library, BF16", "bf16_dense_flop_per_s"),
    "library_fp8": ("library FP8", "library, FP8", "fp8_dense_flop_per_s"),
}
ladder = []
steps = []
for name, (short, way, peak) in rungs.items():
    rate_flop_per_s = measured("h200-products", f"{name}_small_flop_per_s")
    ladder.append(
        {
            "way": way,
            "lines": measured("h200-products", f"{name}_lines_count"),
            "rate_flop_per_s": rate_flop_per_s,
            "peak_share": rate_flop_per_s / getattr(card, peak),
            "error": measured("h200-products", f"{name}_small_error_share"),
        }
    )
    steps.append({"way": short, "rate_flop_per_s": rate_flop_per_s})
    print(f"{way}: {rate_flop_per_s / getattr(card, peak):.0%} of the peak")

# The way from the first rung to the last, as factors that multiply.
naive_flop_per_s = measured("h200-products", "naive_small_flop_per_s")
best_flop_per_s = measured("h200-products", "register_blocked_wide_small_flop_per_s")
fp32_flop_per_s = measured("h200-products", "library_fp32_small_flop_per_s")
triton_flop_per_s = measured("h200-products", "triton_bf16_small_flop_per_s")
bf16_flop_per_s = measured("h200-products", "library_bf16_small_flop_per_s")
fp8_flop_per_s = measured("h200-products", "library_fp8_small_flop_per_s")
naive_lines = measured("h200-products", "naive_lines_count")
best_lines = measured("h200-products", "register_blocked_wide_lines_count")
triton_lines = measured("h200-products", "triton_bf16_lines_count")
all_ratio = fp8_flop_per_s / naive_flop_per_s
own_ratio = best_flop_per_s / naive_flop_per_s
library_ratio = fp32_flop_per_s / best_flop_per_s
units_ratio = bf16_flop_per_s / fp32_flop_per_s
bits_ratio = fp8_flop_per_s / bf16_flop_per_s
own_share = best_flop_per_s / fp32_flop_per_s
triton_share = triton_flop_per_s / bf16_flop_per_s
triton_large_flop_per_s = measured("h200-products", "triton_bf16_large_flop_per_s")
triton_large_share = triton_large_flop_per_s / measured("h200-products", "library_bf16_large_flop_per_s")
same_format_ratio = fp32_flop_per_s / naive_flop_per_s
triton_ratio = triton_flop_per_s / best_flop_per_s
factors = [
    {"step": "a better kernel in the same language", "factor_ratio": own_ratio, "whose": "anybody's, with patience"},
    {"step": "the library, same numbers, same units", "factor_ratio": library_ratio, "whose": "the library's"},
    {"step": "tensor cores, and BF16 for FP32", "factor_ratio": units_ratio, "whose": "the chip's"},
    {"step": "FP8 for BF16", "factor_ratio": bits_ratio, "whose": "the chip's, paid in precision"},
]
fp8_error_share = measured("h200-products", "library_fp8_small_error_share")
bf16_error_share = measured("h200-products", "library_bf16_small_error_share")
naive_share = naive_flop_per_s / card.fp32_vector_flop_per_s
large_bf16_share = measured("h200-products", "library_bf16_large_flop_per_s") / bf16_flop_per_s
large_own_share = measured("h200-products", "register_blocked_wide_large_flop_per_s") / best_flop_per_s

# Causal attention, forwards.
sequences = measured("h200-attention", "sequences_count")
tokens = measured("h200-attention", "tokens_count")
heads = measured("h200-attention", "heads_count")
head_dim = measured("h200-attention", "head_dim")
ways = {
    "naive": "numba, three kernels",
    "fused": "numba, fused",
    "library_fp32": "library, FP32",
    "flash_bf16": "library, BF16, PyTorch's kernel",
    "cudnn_bf16": "library, BF16, cuDNN's kernel",
}
attention = []
for name, way in ways.items():
    attention.append(
        {
            "way": way,
            "lines": measured("h200-attention", f"{name}_lines_count"),
            "time_s": measured("h200-attention", f"{name}_s"),
            "rate_flop_per_s": measured("h200-attention", f"{name}_flop_per_s"),
        }
    )
fused_ratio = measured("h200-attention", "naive_s") / measured("h200-attention", "fused_s")
scores_share = measured("h200-attention", "naive_scores_s") / measured("h200-attention", "naive_s")
torch_share = measured("h200-attention", "cudnn_bf16_s") / measured("h200-attention", "flash_bf16_s")
cudnn_ratio = measured("h200-attention", "fused_s") / measured("h200-attention", "cudnn_bf16_s")

# One token of a model of Llama 3.1 8B's shape.
copy_bytes_per_s = measured("h200-decode", "copy_bytes_per_s")
context = measured("h200-decode", "context_count")
step_bytes = measured("h200-decode", "step_bytes")
floor_s = step_bytes / copy_bytes_per_s
decode = []
for name, way in {"eager": "operation by operation", "graph": "recorded as a graph", "compiled": "compiled"}.items():
    step_s = measured("h200-decode", f"{name}_s")
    decode.append(
        {
            "way": way,
            "launches": measured("h200-decode", f"{name}_launches_count"),
            "step_s": step_s,
            "rate_tokens_per_s": measured("h200-decode", f"{name}_tokens_per_s"),
            "bound_share": floor_s / step_s,
        }
    )
    print(f"{way}: {floor_s / step_s:.0%} of the memory bound")
graph_lines = measured("h200-decode", "graph_lines_count")
compiled_lines = measured("h200-decode", "compiled_lines_count")
eager_s = measured("h200-decode", "eager_s")
compiled_launches = measured("h200-decode", "compiled_launches_count")
decode_ratio = eager_s / measured("h200-decode", "compiled_s")
eager_launches = measured("h200-decode", "eager_launches_count")
launch_s = eager_s / eager_launches

# What had been expected before the card was asked.
expected = []
for name, run, key in (
    ("numba, as first written", "h200-products", "naive"),
    ("numba, tiles", "h200-products", "tiled"),
    ("numba, sums in registers", "h200-products", "register_blocked"),
    ("numba, wide reads", "h200-products", "register_blocked_wide"),
    ("attention, three kernels", "h200-attention", "naive"),
    ("attention, fused", "h200-attention", "fused"),
):
    foretold_flop_per_s = measured(run, f"{key}_predicted_flop_per_s")
    found_flop_per_s = measured(run, f"{key}_small_flop_per_s" if run == "h200-products" else f"{key}_flop_per_s")
    expected.append(
        {
            "kernel": name,
            "foretold_flop_per_s": foretold_flop_per_s,
            "found_flop_per_s": found_flop_per_s,
            "reached_share": found_flop_per_s / foretold_flop_per_s,
        }
    )
least_reached_share = min([row["reached_share"] for row in expected])
most_reached_share = max([row["reached_share"] for row in expected])
