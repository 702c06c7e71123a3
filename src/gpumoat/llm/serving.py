"""What a serving program takes beside weights and cache: activations, logits, the sampler, graphs, the context.

The largest of these in vLLM is no activation of the network. At start it samples from made-up logits of as many
sequences as it will ever run, over the whole vocabulary. While the sampler sorted them all, before version 0.17, that
took 2 + 4 + 12 + 12 + 8 = 38 bytes a logit: in 16 bits, as fp32, sorted values with their indices, workspace, and
indices. Since then it takes 2 + 4 + 4 + 4 = 14: in 16 bits, as fp32, softmax, noise. Four cards need as much as one,
because logits are gathered. Public logs stray from this by a share of 0.07 at most, and from the rule of the forward
pass by 0.15. The last version that they cover is 0.19; from 0.18 on more is taken outside PyTorch.

Promises: each term says what it rests on and how far the evidence leaves it open. Left out: pictures other than those
of Gemma 3, and other samplers than the default one.

Sources: vLLM ``v1/worker/gpu_model_runner.py`` and ``v1/sample/ops/topk_topp_sampler.py``; the logs named with the
facts. The split of the bytes a logit is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.facts import fact, measured
from gpumoat.llm.architecture import Architecture
from gpumoat.llm.feed_forward import EXPERTS
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.terms import Term, exact

LLAMA_ROWS = 512
"""Tokens of a micro-batch in llama.cpp where nobody says otherwise."""


@dataclass(frozen=True)
class Engine:
    """A serving program of a version.

    Attributes:
        name: ``vllm``, ``transformers`` or ``llama.cpp``.
        minor: Its version after ``0.``; 0 where versions do not matter.
    """

    name: str
    minor: int = 0

    @property
    def sorts(self) -> bool:
        """Whether its sampler sorts the vocabulary, as vLLM's did before minor version 17."""
        return self.name == "vllm" and self.minor < 17


def logit_bytes(of: Engine) -> int:
    """Return what vLLM samples a logit with: 2 + 4 + 12 + 12 + 8 bytes while it sorted, 2 + 4 + 4 + 4 since."""
    return 2 + 4 + 12 + 12 + 8 if of.sorts else 2 + 4 + 4 + 4


def strays_by(rule: str) -> float:
    """Return by what share logs stray from a rule at most: 0.07 for the ``sampler``, 0.15 for a ``forward`` pass."""
    return 0.07 if rule == "sampler" else 0.15


def newest() -> int:
    """Return the version that ``vllm`` alone stands for, minor version 19: the last one that the logs cover."""
    return 19


def engine(text: str) -> Engine:
    """Return the engine of a name such as ``vllm-0.19`` or ``transformers``; a version has 3 digits at most.

    Raises:
        ConfigError: There is none of that name.
    """
    name, _, version = text.partition("-")
    if name in ("transformers", "llama.cpp") and not version:
        return Engine(name)
    if name == "vllm":
        if not version:
            return Engine(name, newest())
        parts = version.split(".")
        if len(parts) >= 2 and parts[0] == "0" and parts[1].isdigit() and len(parts[1]) <= 3:
            return Engine(name, int(parts[1]))
    raise ConfigError(f"engine must be transformers, llama.cpp, vllm or vllm-0.N such as vllm-0.19, not {text[:40]!r}")


@dataclass(frozen=True)
class Load:
    """What an engine runs at once.

    Attributes:
        batch_tokens: Tokens of one step.
        sequences: Sequences whose logits are sampled at once.
        tensor: Ranks of tensor parallelism.
        pipeline: Stages of layers.
        last: Whether the rank has the head.
    """

    batch_tokens: int
    sequences: int
    tensor: int = 1
    pipeline: int = 1
    last: bool = True


def default_load(
    of: Engine, context: int, sequences: int, tensor: int = 1, pipeline: int = 1, last: bool = True
) -> Load:
    """Return what an engine reserves for where nobody says otherwise, on a card with at least 70 GiB.

    vLLM from 0.8 on samples 1,024 sequences and runs 8,192 tokens a step; before, 256 sequences and as many tokens as
    the context has. Other engines reserve for what they run.
    """
    if of.name == "vllm":
        if of.minor < 8:
            return Load(max(context, 2048), max(256, sequences), tensor, pipeline, last)
        return Load(8192, max(1024, sequences), tensor, pipeline, last)
    if of.name == "llama.cpp":
        return Load(min(LLAMA_ROWS, context), sequences, tensor, pipeline, last)
    return Load(context * sequences, sequences, tensor, pipeline, last)


def sampler_bytes(of: Engine, model: Architecture, load: Load) -> int:
    """Return what vLLM profiles while it samples: bytes a logit, the hidden states, and what experts hold."""
    found = logit_bytes(of) * load.sequences * model.vocabulary + 2 * load.batch_tokens * model.hidden
    if not of.sorts:
        found += expert_bytes(model, load) + int(fact("vllm-019.sampler_rest_bytes"))
    return found + picture_bytes(model, load)


def picture_bytes(model: Architecture, load: Load) -> int:
    """Return what a made-up batch of pictures holds while vLLM samples, in 16 bits.

    As many pictures as the tokens of a step have room for, what the tower makes of them, and the step's embeddings.
    """
    if not model.image_tokens:
        return 0
    pictures = load.batch_tokens // model.image_tokens
    return 2 * (pictures * model.image_values + 2 * pictures * model.image_tokens * model.hidden)


def expert_bytes(model: Architecture, load: Load) -> int:
    """Return the workspace of experts: T × e × (2m / t + h) × 2."""
    found = 0
    for layer, _ in model.kinds():
        feed = layer.feed_forward
        if feed.kind == EXPERTS:
            width = 2 * feed.expert_width // load.tensor + model.hidden
            found = max(found, load.batch_tokens * feed.per_token * width * 2)
    return found


def forward_bytes(model: Architecture, load: Load) -> int:
    """Return the peak of a forward pass of T tokens in 16 bits: 2T(3f / t + 4h), or 2f / t without a gate.

    The widest block holds gate, up and their product while four vectors of the width of the model are alive: the
    residual, the input of the block, its normed form and its output. A stage of a pipeline holds two more, which it was
    sent: 6h.
    """
    widest = 0
    for layer, _ in model.kinds():
        feed = layer.feed_forward
        wide = (3 if feed.gated else 2) * feed.width
        if feed.kind == EXPERTS:
            wide = max(wide, feed.per_token * 3 * feed.expert_width)
        for mixer in layer.mixers:
            heads = mixer.heads * mixer.query_dim * 2 + mixer.kv_heads * (mixer.key_dim + mixer.value_dim)
            wide = max(wide, heads)
        widest = max(widest, wide)
    vectors = 6 if load.pipeline > 1 else 4
    return 2 * load.batch_tokens * (widest // load.tensor + vectors * model.hidden)


def activation_terms(of: Engine, model: Architecture, load: Load) -> list[Term]:
    """Return what an engine takes for activations and logits on one rank."""
    if of.name == "llama.cpp":
        return [_llama_buffer(model, load)]
    forward = forward_bytes(model, load)
    if of.name == "transformers":
        logits = load.sequences * model.vocabulary * (2 + 4)
        numbers = f"{load.sequences:,} × {model.vocabulary:,} × (2 + 4)"
        return [
            _near("activations of the forward pass", forward, "forward pass", strays_by("forward") * 2),
            exact("logits of the last token", "activations", logits, "B × V × (2 + 4)", numbers, "generate"),
        ]
    sampler = sampler_bytes(of, model, load) if load.last else 0
    if forward > sampler:
        return [_near("activations of the forward pass", forward, "vLLM's profile run", strays_by("forward"))]
    each = logit_bytes(of)
    logits = each * load.sequences * model.vocabulary
    rest = sampler - logits
    stray = int(strays_by("sampler") * sampler)
    low, high = max(0, logits - stray), logits + stray
    return [
        Term(
            "logits and sampler",
            "activations",
            logits,
            f"{each} × S × V",
            f"{each} × {load.sequences:,} × {model.vocabulary:,}",
            "vLLM, dummy run of the sampler",
            low,
            high,
            "26 profiles in public logs, mean error 3 %, none beyond 8 %",
        ),
        exact(
            "hidden states, workspace of experts, pictures",
            "activations",
            rest,
            "n × b",
            f"{rest:,} × 1",
            "vLLM's profile run",
        ),
    ]


def _near(name: str, size: int, source: str, share: float) -> Term:
    low, high = int(size * (1 - share)), int(size * (1 + share))
    evidence = "profiles of stages without a head in public logs"
    return Term(name, "activations", size, "n × b", f"{size:,} × 1", source, low, high, evidence)


def _llama_buffer(model: Architecture, load: Load) -> Term:
    """Return llama.cpp's compute buffer on the card: fp32 logits and hidden states of a whole micro-batch."""
    size = load.batch_tokens * (model.vocabulary + model.hidden) * 4
    numbers = f"{load.batch_tokens:,} × ({model.vocabulary:,} + {model.hidden:,}) × 4"
    low = load.sequences * model.vocabulary * 4
    evidence = "exact in logs from 2024 to mid-2026; builds since September 2026 reserve fewer rows of logits"
    return Term(
        "compute buffer",
        "activations",
        size,
        "T × (V + h) × 4",
        numbers,
        "llama.cpp's logs",
        min(low, size),
        size,
        evidence,
    )


def overhead_terms(of: Engine, load: Load) -> list[Term]:
    """Return what an engine takes besides: libraries, communication, CUDA graphs, the context.

    The context is the one that we measured; 3 / 4 of it to twice as much is what other cards and libraries leave open.
    """
    if of.name != "vllm":
        context = int(measured("h200-memory", "context_bytes"))
        name, group, source = "CUDA context", "overhead", "our run on an H200"
        evidence = "0.47 GiB on an A100 with lazy loading; up to twice as much with more libraries"
        return [
            Term(name, group, context, "n × b", f"{context:,} × 1", source, context * 3 // 4, context * 2, evidence)
        ]
    found = [_outside(of, load)]
    if of.minor >= 8:
        least, mean, most = (
            int(fact("vllm-019.graphs_least_bytes")),
            int(fact("vllm-019.graphs_bytes")),
            int(fact("vllm-019.graphs_most_bytes")),
        )
        evidence = "35 architectures on an H100, vLLM 0.19: least and most"
        source = "llm-d-planner, accuracy report"
        found.append(Term("CUDA graphs", "overhead", mean, "n × b", f"{mean:,} × 1", source, least, most, evidence))
    return found


def outside_bytes(of: Engine, tensor: int, pipeline: int) -> tuple[int, int, int]:
    """Return what vLLM takes outside PyTorch on one card: the likely value, the least and the most in the logs.

    On one card it takes more from minor version 18 on, on several from 17 on.
    """
    if pipeline > 1 and tensor == 1:
        value = int(fact("vllm-019.nontorch_pipeline_bytes"))
        return value, value // 2, 4 * value
    if tensor == 1:
        early, late = int(fact("vllm-015.nontorch_bytes")), int(fact("vllm-019.nontorch_bytes"))
        most = int(fact("vllm-019.nontorch_mean_bytes")) * 2
        return (late if of.minor >= 18 else early), early // 2, most
    early, late = int(fact("vllm-011.nontorch_two_bytes")), int(fact("vllm-019.nontorch_two_bytes"))
    if tensor > 2:
        late = int(fact("vllm-019.nontorch_four_bytes"))
    most = int(fact("vllm-019.nontorch_four_mean_bytes"))
    return (late if of.minor >= 17 else early), early, most + most // 8


def _outside(of: Engine, load: Load) -> Term:
    value, low, high = outside_bytes(of, load.tensor, load.pipeline)
    evidence = "public logs of vLLM 0.11 to 0.19 on H100s"
    source = "llm-d-planner, accuracy report"
    return Term(
        "libraries and communication", "overhead", value, "n × b", f"{value:,} × 1", source, low, high, evidence
    )
