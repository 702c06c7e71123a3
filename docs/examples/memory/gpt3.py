"""How many cards does GPT-3 need? One layer, the whole model, using it, training it."""

from gpumoat import assume, claim, fact, gpu, llm, measured, model
from gpumoat.units import GB, GIB, dtype_bytes

# The shape of the model: every size is a fact with a source.
gpt3 = llm.gpt_shape("gpt3")
layers = model("gpt3").layers
hidden = model("gpt3").hidden
positions = model("gpt3").positions
paper_count = fact("gpt3.parameters")
fp32_bytes = dtype_bytes("fp32")
fp16_bytes = dtype_bytes("fp16")

# One layer. The biases of a matrix are one more row of it.
attention_count = llm.attention_parameters(gpt3)
lecture_attention_count = claim("lecture-attention-parameters")
attention_bytes = llm.weights_bytes(attention_count, "fp32")
biases_count = attention_count - llm.attention_parameters(gpt3.without_biases())
lecture_rows = claim("lecture-matrix-rows")
feed_forward_ratio = fact("gpt3.feed_forward_ratio")
layer_count = llm.layer_parameters(gpt3)
layer_bytes = llm.weights_bytes(layer_count, "fp32")

# The whole model.
layers_bytes = layers * layer_bytes
embeddings_bytes = llm.weights_bytes(llm.embedding_parameters(gpt3), "fp32")
parameters_count = llm.parameters(gpt3)
weights_bytes = llm.weights_bytes(parameters_count, "fp32")
weights_16_bytes = llm.weights_bytes(parameters_count, "fp16")
unit_share = GIB / GB - 1

# Using it: the weights, and the keys and values of one full sequence.
cache_bytes = llm.kv_cache_bytes(gpt3, positions, 1, "fp32")
cache_16_bytes = llm.kv_cache_bytes(gpt3, positions, 1, "fp16")
use_bytes = weights_bytes + cache_bytes
use_16_bytes = weights_16_bytes + cache_16_bytes

# Training it: what Adam keeps for each parameter, then the activations of one full sequence on top.
full = llm.full_precision_terms(parameters_count)
kept = ["weights", "gradients", "momentum", "variance", "master"]
widths = [fact(f"adam-mixed.{name}_bytes_per_parameter") for name in kept]
mixed = llm.training_terms(parameters_count, *widths)
state_bytes = llm.total_bytes(full)
parameter_state_bytes = llm.total_bytes(llm.full_precision_terms(1))
activations = llm.activation_terms(gpt3, positions)
activations_bytes = llm.total_bytes(activations)
train_bytes = llm.total_bytes(mixed) + activations_bytes
lecture_training_bytes = claim("lecture-total-training")
off_share = state_bytes / lecture_training_bytes - 1
full_ratio = parameter_state_bytes / fp32_bytes
lecture_ratio = claim("lecture-cards-ratio")
real_ratio = train_bytes / use_16_bytes

states = [
    {"kept": "weight", "full_bytes": fp32_bytes, "mixed_bytes": fact("adam-mixed.weights_bytes_per_parameter")},
    {"kept": "gradient", "full_bytes": fp32_bytes, "mixed_bytes": fact("adam-mixed.gradients_bytes_per_parameter")},
    {"kept": "momentum", "full_bytes": fp32_bytes, "mixed_bytes": fact("adam-mixed.momentum_bytes_per_parameter")},
    {"kept": "variance", "full_bytes": fp32_bytes, "mixed_bytes": fact("adam-mixed.variance_bytes_per_parameter")},
    {"kept": "master copy", "full_bytes": None, "mixed_bytes": fact("adam-mixed.master_bytes_per_parameter")},
]
cases = {
    "use, fp32": llm.inference_terms(gpt3, positions, 1, "fp32"),
    "use, 16-bit": llm.inference_terms(gpt3, positions, 1, "fp16"),
    "train, mixed": mixed + activations,
}
parts = [
    {"case": case, "part": each.name.split(",")[0], "part_bytes": each.size_bytes}
    for case, terms in cases.items()
    for each in terms
]

# One layer on a real card, against the formulas.
measured_layer_bytes = measured("h200-memory", "layer_weights_bytes")
measured_training_bytes = measured("h200-memory", "layer_training_bytes")
measured_activations_bytes = measured("h200-memory", "layer_activations_bytes")
expected_training_bytes = llm.total_bytes(llm.full_precision_terms(layer_count))
allocatable_bytes = measured("h200-memory", "allocatable_bytes")
activations_difference_bytes = measured_activations_bytes - llm.activation_bytes_per_layer(gpt3, positions)

# Cards: what a program can use of each, which is not what the box says.
cards = []
for id in ["rtx-4090", "h100-sxm", "h200-sxm"]:
    usable_bytes = gpu(id).usable_memory_bytes
    cards.append(
        {
            "card": gpu(id).name,
            "label_bytes": gpu(id).memory_bytes,
            "usable_bytes": usable_bytes,
            "weights_cards": llm.cards_needed(weights_bytes, usable_bytes),
            "use_cards": llm.cards_needed(use_16_bytes, usable_bytes),
            "train_cards": llm.cards_needed(train_bytes, usable_bytes),
        }
    )
for row in cards:
    print(f"{row['card']}: {row['use_cards']} cards to use it, {row['train_cards']} to train it")

# What the lecture says of all this, and what comes out.
verdicts = [
    {"of": "one layer's attention", "said_bytes": claim("lecture-attention-size"), "found_bytes": attention_bytes},
    {"of": "one layer", "said_bytes": claim("lecture-layer-size"), "found_bytes": layer_bytes},
    {"of": "all layers", "said_bytes": claim("lecture-layers-size"), "found_bytes": layers_bytes},
    {"of": "the model", "said_bytes": claim("lecture-weights-size"), "found_bytes": weights_bytes},
    {"of": "what using it adds", "said_bytes": claim("lecture-inference-extra"), "found_bytes": cache_bytes},
    {"of": "using it", "said_bytes": claim("lecture-inference-total"), "found_bytes": use_bytes},
    {"of": "training states, low end", "said_bytes": claim("lecture-total-training-low"), "found_bytes": state_bytes},
    {"of": "training states, high end", "said_bytes": claim("lecture-total-training"), "found_bytes": state_bytes},
]

lecture_over_bytes = claim("lecture-weights-size") - weights_bytes

# For the questions at the end.
small_count = assume(7_000_000_000, "a common size of open models, and the one that the lecture takes")
small_bytes = llm.weights_bytes(small_count, "fp32")
small_16_bytes = llm.weights_bytes(small_count, "fp16")
without_scores_bytes = llm.total_bytes(llm.activation_terms(gpt3, positions, 1, "selective"))
scores_share = 1 - without_scores_bytes / activations_bytes
