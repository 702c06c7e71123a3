"""The half of a layer that looks at one token alone: a dense feed-forward block, or experts and a router.

Promises: parameters and active parameters exact, equal to the public model classes. Left out: how evenly tokens are
spread over experts.

Notation as in `gpumoat.llm.tensors`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.llm.tensors import COLUMNS, ROWS, WHOLE, Block, Tensor

DENSE, EXPERTS, NONE = "dense", "experts", "none"


@dataclass(frozen=True)
class FeedForward:
    """The half of a layer that looks at one token alone.

    Attributes:
        kind: ``dense``, ``experts`` or ``none``.
        tensors: Its weights.
        gated: Whether a third matrix gates the first.
        width: Width f of the dense block, or of the shared expert.
        experts: Experts E.
        per_token: Experts e that a token uses.
        expert_width: Width m of one expert.
    """

    kind: str
    tensors: tuple[Tensor, ...]
    gated: bool = True
    width: int = 0
    experts: int = 0
    per_token: int = 0
    expert_width: int = 0


NO_FEED_FORWARD = FeedForward(NONE, ())


def dense(
    hidden: int, width: int, gated: bool = True, bias: bool = False, out_bias: bool = False, learned: int = 0
) -> FeedForward:
    """Return a dense block: 3h·f weights if gated, 2h·f if not.

    Args:
        hidden: Width h of the model.
        width: Width f inside.
        gated: Whether a third matrix gates the first.
        bias: Whether the first matrices have biases.
        out_bias: Whether the last one has.
        learned: Values that the activation learns.
    """
    block = Block({"h": hidden, "f": width, "c": learned}, "feed-forward")
    _gated(block, "mlp", "f", gated, bias, out_bias)
    if learned:
        block.vector("mlp.act_fn", "c")
    return FeedForward(DENSE, tuple(block.tensors), gated, width)


def experts(
    hidden: int,
    count: int,
    per_token: int,
    width: int,
    gated: bool = True,
    bias: bool = False,
    router_bias: bool = False,
    shared_width: int = 0,
    shared_gate: bool = False,
    router: bool = True,
    inner: int = 0,
    dense_width: int = 0,
    shared_bias: bool = False,
) -> FeedForward:
    """Return experts with their router: 3h·m·E + h·E weights, of which a token uses 3h·m·e + h·E.

    Args:
        hidden: Width h of the model.
        count: Experts E.
        per_token: Experts e that a token uses.
        width: Width m of one expert.
        gated: Whether a third matrix gates the first.
        bias: Whether experts have biases.
        router_bias: Whether the router has one value more for each expert.
        shared_width: Width s of what every token uses beside them; 0 for none.
        shared_gate: Whether that is gated by h weights.
        router: Whether there is a router.
        inner: Width q that the experts work in where it is not h; two matrices lead there and back.
        dense_width: Width f of a dense block that runs beside the experts; 0 for none.
        shared_bias: Whether the shared expert has biases.
    """
    symbols = {"h": hidden, "E": count, "e": per_token, "m": width, "s": shared_width, "q": inner, "f": dense_width}
    block = Block(symbols, "experts")
    width_in = "q" if inner else "h"
    if inner:
        block.matrix("mlp.fc1_latent_proj", "q", "h", WHOLE, "", bias)
        block.matrix("mlp.fc2_latent_proj", "h", "q", WHOLE, "", bias)
    for name in ("gate_proj", "up_proj") if gated else ("up_proj",):
        block.matrix(f"mlp.experts.{name}", "m", width_in, ROWS, "experts.up", bias, copies="E", active="e")
    block.matrix("mlp.experts.down_proj", width_in, "m", COLUMNS, "experts.down", bias, copies="E", active="e")
    if router:
        block.matrix("mlp.gate", "E", "h", WHOLE, part="router", linear=False)
        if router_bias:
            block.vector("mlp.gate.bias", "E", "router")
    if shared_width:
        block.part = "shared experts"
        _gated(block, "mlp.shared_experts", "s", gated, shared_bias, shared_bias)
        if shared_gate:
            block.matrix("mlp.shared_expert_gate", "1", "h", linear=False)
    if dense_width:
        block.part = "feed-forward"
        _gated(block, "mlp", "f", gated, False, False)
    return FeedForward(EXPERTS, tuple(block.tensors), gated, shared_width + dense_width, count, per_token, width)


def _gated(block: Block, module: str, width: str, gated: bool, bias: bool, out_bias: bool) -> None:
    for name in ("gate_proj", "up_proj") if gated else ("up_proj",):
        block.matrix(f"{module}.{name}", width, "h", ROWS, "gate_up" if gated else "", bias)
    block.matrix(f"{module}.down_proj", "h", width, COLUMNS, "", out_bias)
