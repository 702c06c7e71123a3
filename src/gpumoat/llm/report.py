"""How much memory a model needs to answer, term by term, on the fullest card of a layout.

A report is a list of terms, each with its bytes, its formula in letters and in numbers, its source, and the interval
that the evidence leaves open; the sum of the terms is the report, to the byte. The inverse questions, such as the
longest context that a card holds, are answered by search: pages, windows and states make bytes no straight line.

Promises: the fullest stage of a pipeline is the one reported; bytes never fall when context or batch grow. Left out:
training, and offloading to the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpumoat.llm.architecture import Architecture
from gpumoat.llm.cache import (
    CacheRules,
    bytes_per_token,
    cache_bytes,
    kept_tokens,
    layer_token_bytes,
    page_tokens,
    state_bytes_per_sequence,
)
from gpumoat.llm.fields import LARGEST_COUNT, ConfigError
from gpumoat.llm.quantization import Quantization, named, read_quantization
from gpumoat.llm.serving import Engine, activation_terms, default_load, engine, overhead_terms
from gpumoat.llm.terms import Term, exact, total
from gpumoat.llm.weights import Plan, stage_layers, weight_terms


@dataclass(frozen=True)
class Question:
    """What is asked of a model.

    Attributes:
        engine: The program that runs it, such as ``vllm-0.19``.
        dtype: Data type of what is not quantised; the published one if empty.
        quant: Format of quantised weights; the published one if empty, ``none`` for none.
        kv_dtype: Data type of the cache; that of the weights if empty.
        context: Tokens of each sequence.
        batch: Sequences held at once.
        tensor: Ranks of tensor parallelism.
        pipeline: Stages of layers.
        experts: Ranks that share the experts.
    """

    engine: str = "vllm"
    dtype: str = ""
    quant: str = ""
    kv_dtype: str = ""
    context: int = 8192
    batch: int = 1
    tensor: int = 1
    pipeline: int = 1
    experts: int = 1


@dataclass(frozen=True)
class Report:
    """The answer.

    Attributes:
        terms: What takes memory on the fullest card.
        stage: Which pipeline stage that is, counted from 0.
        cards: How many cards the layout has.
        state_bytes_per_sequence: What recurrent layers keep of one sequence, on that card.
        kv_bytes_per_token: What one token leaves in the cache of the whole model.
    """

    terms: tuple[Term, ...]
    stage: int
    cards: int
    state_bytes_per_sequence: int
    kv_bytes_per_token: int

    @property
    def total_bytes(self) -> int:
        """The sum of the terms."""
        return total(self.terms)

    @property
    def low_bytes(self) -> int:
        """The least that the evidence leaves open."""
        return sum(term.low for term in self.terms)

    @property
    def high_bytes(self) -> int:
        """The most that it leaves open."""
        return sum(term.high for term in self.terms)

    def group_bytes(self, group: str) -> int:
        """Return the sum of the terms of one group."""
        return sum(term.size_bytes for term in self.terms if term.group == group)


def quantization_of(model: Architecture, quant: str) -> Quantization:
    """Return how weights are stored: as asked, or as published."""
    published = read_quantization(model.quantization)
    if not quant:
        return published
    asked = named(quant)
    return Quantization(asked.format, asked.expert_only, published.kept) if asked.format else asked


def kv_dtype_of(model: Architecture, question: Question) -> str:
    """Return the data type of the cache: as asked, or 16 bits; never that of quantised weights."""
    if question.kv_dtype:
        return question.kv_dtype
    return "fp16" if question.engine == "llama.cpp" else (question.dtype or model.dtype)


def check(question: Question) -> None:
    """Raise a ``ConfigError`` for a number that makes no sense."""
    for name in ("context", "batch", "tensor", "pipeline", "experts"):
        value = getattr(question, name)
        most = LARGEST_COUNT if name == "context" else 10**6
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise ConfigError(f"{name} must be a whole number from 1 to {most}, not {value!r}")


def report(model: Architecture, question: Question) -> Report:
    """Return what the fullest card of a layout holds.

    Raises:
        ConfigError: The question makes no sense for this model; one line says why.
    """
    check(question)
    of = engine(question.engine)
    quantization = quantization_of(model, question.quant)
    fullest: Report | None = None
    for stage in _stages(model, question.pipeline):
        found = _stage(model, question, of, quantization, stage)
        if fullest is None or found.total_bytes > fullest.total_bytes:
            fullest = found
    if fullest is None:
        raise ConfigError("the model has no layers")
    return fullest


def _stages(model: Architecture, stages: int) -> list[int]:
    """Return the stages that may be the fullest: the first and last, and the first of each size between."""
    shares = stage_layers(len(model.layers), stages)
    found = [0]
    if len(model.kinds()) > 1:
        return list(range(stages))
    for stage in range(1, stages):
        if stage == stages - 1 or shares[stage] > max(shares[1:stage] or [0]):
            found.append(stage)
    return found


def _stage(model: Architecture, question: Question, of: Engine, quantization: Quantization, stage: int) -> Report:
    vllm = of.name == "vllm"
    plan = Plan(
        question.tensor,
        question.pipeline,
        question.experts,
        stage,
        fused=vllm,
        tables=vllm,
        vocabulary_multiple=64 if vllm else 1,
        rounded=of.name != "llama.cpp",
    )
    shares = stage_layers(len(model.layers), question.pipeline)
    part = model if question.pipeline == 1 else model.slice(sum(shares[:stage]), shares[stage])
    last = stage == question.pipeline - 1
    load = default_load(of, question.context, question.batch, question.tensor, question.pipeline, last)
    rules = cache_rules(model, question, of)
    terms = weight_terms(model, plan, question.dtype or model.dtype, quantization)
    terms += cache_terms(part, rules, question.context, question.batch)
    if model.encoder:
        terms = [term for term in terms if term.group == "weights"]
    terms += activation_terms(of, part, load)
    terms += overhead_terms(of, load)
    return Report(
        tuple(terms),
        stage,
        question.tensor * question.pipeline,
        state_bytes_per_sequence(part, rules),
        0 if model.encoder else bytes_per_token(model, rules.dtype, latent=rules.latent),
    )


def cache_rules(model: Architecture, question: Question, of: Engine) -> CacheRules:
    """Return how an engine keeps the cache that a question asks for."""
    batch_tokens = 512 if of.name == "llama.cpp" else 8192
    convolution = 4 if of.name == "llama.cpp" else 2
    kept = of.name != "transformers"
    return CacheRules(
        of.name, kv_dtype_of(model, question), question.tensor, kept, convolution, min(batch_tokens, question.context)
    )


def cache_terms(model: Architecture, rules: CacheRules, context: int, sequences: int) -> list[Term]:
    """Return the cache of each kind of layer, and the states, as terms."""
    page = page_tokens(model, rules)
    found = []
    for layer, count in model.kinds():
        token = layer_token_bytes(layer, rules)
        if not token:
            continue
        kept = kept_tokens(layer, rules, context, page, sequences)
        name = f"KV cache, {layer.mixer.kind}"
        numbers = f"{count:,} × {kept:,} × {token:,}"
        found.append(exact(name, "kv", count * kept * token, "L × s × c", numbers, _cache_source(rules)))
    state = state_bytes_per_sequence(model, rules)
    if state:
        numbers = f"{sequences:,} × {state:,}"
        found.append(exact("recurrent state", "state", sequences * state, "B × n", numbers, _cache_source(rules)))
    assert total([one for one in found if one.group == "kv"]) == cache_bytes(model, rules, context, sequences)
    return found


def _cache_source(rules: CacheRules) -> str:
    return {"vllm": "vLLM, v1/kv_cache_interface.py", "llama.cpp": "llama.cpp, llama-kv-cache"}.get(
        rules.engine, "follows from attention"
    )


# Inverse questions


def with_values(question: Question, **changes: int | str) -> Question:
    """Return a question with some fields changed."""
    names = "engine dtype quant kv_dtype context batch tensor pipeline experts".split()
    values: list[Any] = [changes[name] if name in changes else getattr(question, name) for name in names]
    return Question(*values)


def share_of(of: str) -> float:
    """Return the share of a card that an engine gives itself: 0.9 for vLLM if nobody says otherwise, else all."""
    return 0.9 if of.startswith("vllm") else 1.0


def fits(of: str, found: Report, usable_bytes: int) -> bool:
    """Say whether a report fits on a card with so many usable bytes.

    vLLM keeps to its share (``gpu_memory_utilization``) with all but its graphs, which come after the cache is sized.
    """
    if found.total_bytes > usable_bytes:
        return False
    graphs = sum(term.size_bytes for term in found.terms if term.name == "CUDA graphs")
    return found.total_bytes - graphs <= share_of(of) * usable_bytes


def largest(holds: Callable[[int], bool], most: int) -> int:
    """Return the largest number from 1 to ``most`` that holds, by bisection; 0 where not even 1 does."""
    if not holds(1):
        return 0
    low, high = 1, 2
    while high <= most and holds(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def largest_context(model: Architecture, question: Question, usable_bytes: int) -> int:
    """Return the longest context that fits, up to the model's own; 0 where none does."""
    most = model.positions or 2**24
    return largest(lambda size: _holds(model, with_values(question, context=size), usable_bytes), most)


def largest_batch(model: Architecture, question: Question, usable_bytes: int) -> int:
    """Return the most sequences that fit at once; 0 where not even one does."""
    return largest(lambda size: _holds(model, with_values(question, batch=size), usable_bytes), 10**6)


def fewest_cards(model: Architecture, question: Question, usable_bytes: int, most: int = 64) -> int:
    """Return the fewest ranks of tensor parallelism, in powers of two, that fit; 0 where none up to ``most`` do."""
    ranks = 1
    while ranks <= most:
        try:
            if _holds(model, with_values(question, tensor=ranks), usable_bytes):
                return ranks * question.pipeline
        except ConfigError:
            pass  # so many ranks cannot share the heads
        ranks *= 2
    return 0


def _holds(model: Architecture, question: Question, usable_bytes: int) -> bool:
    return fits(question.engine, report(model, question), usable_bytes)
