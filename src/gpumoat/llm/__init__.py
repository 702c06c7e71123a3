"""Language models in numbers: parameters, bytes, and the cards that hold them.

Closed forms in the standard library, for people and for the reader's browser. `gpt` counts the parameters of
a GPT-style model, `memory` the bytes to run and to train it, `capacity` the cards.
"""

from gpumoat.llm.capacity import cards_needed, used_share
from gpumoat.llm.catalogue import gpt_shape
from gpumoat.llm.gpt import (
    GPTShape,
    Part,
    attention_parameters,
    embedding_parameters,
    feed_forward_parameters,
    head_parameters,
    layer_parameters,
    norm_parameters,
    parameters,
    parameters_by_part,
)
from gpumoat.llm.memory import (
    Term,
    activation_bytes_per_layer,
    activation_terms,
    full_precision_terms,
    inference_terms,
    kv_cache_bytes,
    total_bytes,
    training_terms,
    weights_bytes,
)

__all__ = [
    "GPTShape",
    "Part",
    "Term",
    "activation_bytes_per_layer",
    "activation_terms",
    "attention_parameters",
    "cards_needed",
    "embedding_parameters",
    "feed_forward_parameters",
    "full_precision_terms",
    "gpt_shape",
    "head_parameters",
    "inference_terms",
    "kv_cache_bytes",
    "layer_parameters",
    "norm_parameters",
    "parameters",
    "parameters_by_part",
    "total_bytes",
    "training_terms",
    "used_share",
    "weights_bytes",
]
