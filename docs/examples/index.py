"""The paragraph on the home page: GPT-3 in numbers of all five kinds."""

from gpumoat import assume, claim, gpu, llm, measured, model
from gpumoat.units import dtype_bytes

layers, hidden = model("gpt3").layers, model("gpt3").hidden
claimed_hidden = claim("lecture-matrix-rows")
fp32_bytes = dtype_bytes("fp32")
parameters_count = llm.parameters(llm.gpt_shape("gpt3"))
weights_bytes = parameters_count * fp32_bytes

usable_share = assume(0.9, "a tenth of each card is left for the buffers of the program that runs the model")
card_bytes = gpu("rtx-4090").memory_bytes
cards_count = llm.cards_needed(weights_bytes, usable_share * card_bytes)
h200_bytes = measured("h200-memory", "total_bytes")
h200_cards_count = llm.cards_needed(weights_bytes, usable_share * h200_bytes)

print(f"{cards_count} cards of the RTX 4090, or {h200_cards_count} of the H200")
