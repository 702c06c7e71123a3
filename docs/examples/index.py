"""GPT-3's weights, and the cards that hold them: the numbers of the home page."""

from gpumoat import assume, claim, llm, measured, model
from gpumoat.units import dtype_bytes

gpt3 = llm.gpt_shape("gpt3")
layers, hidden = model("gpt3").layers, model("gpt3").hidden
fp32_bytes = dtype_bytes("fp32")
parameters_count = llm.parameters(gpt3)
weights_bytes = llm.weights_bytes(parameters_count, "fp32")
lecture_weights_bytes = claim("lecture-weights-size")

h200_bytes = measured("h200-memory", "allocatable_bytes")
spare_share = assume(0.1, "room for the KV cache and the framework; a choice for this page, not a rule")
cards_count = llm.cards_needed(weights_bytes, h200_bytes)
spare_cards_count = llm.cards_needed(weights_bytes, (1 - spare_share) * h200_bytes)
print(f"{weights_bytes:,} bytes of weights: {cards_count} cards, or {spare_cards_count} with room to spare")
