"""``gpumoat memory``: what a model takes on a card, term by term; ``gpumoat models``: the catalogue of configs.

The model is one of the catalogue, or a config of your own: a ``config.json``, its folder, a GGUF file, or ``-`` for
standard input. The table has the largest term first; what does not fit is followed by what would. Exit status 1 says
that it does not fit, 2 that the input is bad.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from gpumoat.commands.answer import Json, bad_input
from gpumoat.facts import DataError, near
from gpumoat.hardware import gpu as card_of
from gpumoat.llm import report as rp
from gpumoat.llm.architecture import Architecture
from gpumoat.llm.cache import bytes_per_token
from gpumoat.llm.configs import config_entry, config_ids
from gpumoat.llm.counts import active_parameters, by_part, extra_parameters, total_parameters
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.load import load
from gpumoat.llm.terms import Term
from gpumoat.units import format_value

OPTIONS = {
    "context": "--context",
    "batch": "--batch",
    "dtype": "--dtype",
    "quant": "--quant",
    "kv-dtype": "--kv-dtype",
    "engine": "--engine",
    "tensor": "--tp",
    "tp": "--tp",
    "pipeline": "--pp",
    "pp": "--pp",
    "experts": "--ep",
    "gpu": "--gpu",
}
SHORT = 48
"""Characters of a formula in numbers that still stands beside the formula."""
WIDTH = 24
"""Characters of the longest bar."""

WIDE = 110
"""Characters of a terminal from which a formula's numbers have room."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(memory)
    app.command()(models)


def memory(
    model: Annotated[
        str, typer.Argument(help="A model of the catalogue, a config.json, its folder, a GGUF file, or -.")
    ],
    gpu: Annotated[str, typer.Option(help="A card of the catalogue, such as h200-sxm; see gpumoat gpus.")] = "",
    context: Annotated[int, typer.Option(help="Tokens of each sequence, prompt and answer together.")] = 8192,
    batch: Annotated[int, typer.Option(help="Sequences held at once.")] = 1,
    dtype: Annotated[str, typer.Option(help="fp32, fp16 or bf16; as published if left out.")] = "",
    quant: Annotated[
        str, typer.Option(help="fp8, int8, awq-int4, gptq-int4, nf4, mxfp4, nvfp4, Q4_K_M ...; none for none.")
    ] = "",
    kv_dtype: Annotated[str, typer.Option(help="fp16, bf16, fp8, q8_0 ...: data type of the cache.")] = "",
    engine: Annotated[str, typer.Option(help="transformers, llama.cpp, or vllm-0.N such as vllm-0.19.")] = "vllm",
    tp: Annotated[int, typer.Option(help="Cards that share each matrix.")] = 1,
    pp: Annotated[int, typer.Option(help="Stages of layers.")] = 1,
    ep: Annotated[int, typer.Option(help="Cards that share the experts whole.")] = 1,
    as_json: Json = False,
) -> None:
    """Say how much memory a model needs to answer, and whether it fits on a card."""
    with bad_input(OPTIONS):
        made = _model(model)
        question = rp.Question(engine, dtype, quant, kv_dtype, context, batch, tp, pp, ep)
        found = rp.report(made, question)
    usable = _usable(gpu) if gpu else 0
    good = not gpu or rp.fits(engine, found, usable)
    if as_json:
        print(json.dumps(_data(made, question, found, gpu, usable, good), indent=2, ensure_ascii=False))
    else:
        _show(made, question, found, gpu, usable, good)
    if not good:
        raise typer.Exit(1)


def models(
    as_json: Json = False,
) -> None:
    """List the models whose configs come with the package, with their sources."""
    rows = []
    for id in config_ids():
        entry = config_entry(id)
        row: dict[str, Any] = {
            "id": id,
            "name": str(entry.get("name", id)),
            "publisher": str(entry.get("publisher", "")),
        }
        try:
            made = load(id)
            row |= {"parameters": total_parameters(made), "active_parameters": active_parameters(made)}
            row["kv_bytes_per_token"] = bytes_per_token(made)
        except ConfigError as error:
            row["problem"] = str(error)
        row |= {"source": entry.get("source", ""), "status": entry.get("status", "")}
        rows.append(row)
    if as_json:
        print(json.dumps({"schema": 1, "models": rows}, indent=2, ensure_ascii=False))
        return
    out = Console()
    notes = "Parameters in billions; KV is what one token leaves in the cache, in 16 bits."
    table = Table(caption=notes, caption_justify="left", box=SIMPLE_HEAD)
    wide = out.width >= WIDE
    for head in ("model", "total", "active", "KV/token", "source" if wide else "read"):
        table.add_column(
            head, justify="left" if head in ("model", "source") else "right", no_wrap=head != "source", overflow="fold"
        )
    for row in rows:
        if "problem" in row:
            table.add_row(row["id"], "not read", "", "", str(row["source"]) if wide else row["status"])
            continue
        counts = [f"{row[name] / 10**9:,.2f}" for name in ("parameters", "active_parameters")]
        kv = format_value(row["kv_bytes_per_token"], ",.1f KiB", "kv_bytes")
        table.add_row(row["id"], *counts, kv, f"{row['status']}: {row['source']}" if wide else row["status"])
    out.print(table)


def _model(text: str) -> Architecture:
    """Return a model, or raise one line that says where it was looked for."""
    try:
        return load(text)
    except ConfigError as error:
        if str(error).startswith("no model"):
            hint = (
                near(text.lower(), config_ids()) or ": `gpumoat models` lists them, and a config.json is read as well"
            )
            raise DataError(f"no model {text!r} in the catalogue and no such file{hint}") from None
        raise


def _usable(id: str) -> int:
    """Return the bytes that a program gets of a card: measured or quoted if known, else the driver's or the label's."""
    card = card_of(id)
    for field in ("usable_memory_bytes", "driver_memory_bytes", "memory_bytes"):
        try:
            return int(getattr(card, field))
        except AttributeError:
            continue
    raise DataError(f"the catalogue does not say how much memory {id!r} has")


def _data(
    made: Architecture, question: rp.Question, found: rp.Report, gpu: str, usable: int, good: bool
) -> dict[str, Any]:
    """Return the answer as an object; names state their units."""
    terms = [
        {
            "name": term.name,
            "group": term.group,
            "bytes": term.size_bytes,
            "formula": term.formula,
            "numbers": term.numbers,
            "source": term.source,
            "low_bytes": term.low,
            "high_bytes": term.high,
            "evidence": term.evidence,
        }
        for term in sorted(found.terms, key=lambda term: -term.size_bytes)
    ]
    data: dict[str, Any] = {
        "model": made.name,
        "model_type": made.model_type,
        "parameters": total_parameters(made),
        "active_parameters": active_parameters(made),
        "extra_parameters": extra_parameters(made),
        "parameters_by_part": [
            {"name": part.name, "parameters": part.parameters, "formula": part.formula, "numbers": part.numbers}
            for part in by_part(made)
        ],
        "engine": question.engine,
        "context": question.context,
        "batch": question.batch,
        "weights_bytes": found.group_bytes("weights"),
        "kv_bytes_per_token": found.kv_bytes_per_token,
        "kv_bytes": found.group_bytes("kv"),
        "state_bytes_per_sequence": found.state_bytes_per_sequence,
        "state_bytes": found.group_bytes("state"),
        "activations_bytes": found.group_bytes("activations"),
        "gradients_bytes": 0,
        "optimizer_bytes": 0,
        "overhead_bytes": found.group_bytes("overhead"),
        "total_bytes": found.total_bytes,
        "low_bytes": found.low_bytes,
        "high_bytes": found.high_bytes,
        "cards": found.cards,
        "stage": found.stage,
        "assumed": list(made.assumed),
        "terms": terms,
    }
    if gpu:
        data |= {"gpu": gpu, "usable_bytes": usable, "fits": good}
        data |= dict(_inverse(made, question, usable))
    return data


def _inverse(made: Architecture, question: rp.Question, usable: int) -> list[tuple[str, int]]:
    """Return what the card would hold: the longest context, the most sequences, and the fewest cards."""
    return [
        ("largest_context", rp.largest_context(made, question, usable)),
        ("largest_batch", rp.largest_batch(made, question, usable)),
        ("fewest_cards", rp.fewest_cards(made, question, usable)),
    ]


def _show(made: Architecture, question: rp.Question, found: rp.Report, gpu: str, usable: int, good: bool) -> None:
    out = Console()
    parameters = format_value(total_parameters(made), ",.3f billion", "count")
    active = format_value(active_parameters(made), ",.3f billion", "count")
    title = f"{made.name}: {parameters} parameters, {active} a token; {question.engine}, {_sizes(question)}"
    wide = out.width >= WIDE
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for head in ("what", "size", "", "how", "from to"):
        table.add_column(head, justify="right" if head in ("size", "from to") else "left", no_wrap=head in ("size", ""))
    table.columns[0].min_width = 16
    terms = sorted(found.terms, key=lambda term: -term.size_bytes)
    most = max([term.size_bytes for term in terms] or [1]) or 1
    for term in terms:
        bar = "█" * max(1, round((WIDTH if wide else WIDTH // 3) * term.size_bytes / most))
        between = "" if term.low == term.high else _between(term.low, term.high)
        table.add_row(term.name, _gib(term.size_bytes), bar, _how(term, wide), between)
    table.add_section()
    between = _between(found.low_bytes, found.high_bytes)
    where = "on each card" if found.cards > 1 else "on the card"
    table.add_row(f"sum {where}", _gib(found.total_bytes), "", "of the terms above", between, style="bold")
    out.print(table, highlight=False)
    for line in made.assumed:
        out.print(f"assumed: {line}", markup=False, highlight=False)
    if found.cards > 1:
        out.print(f"{found.cards} cards; the fullest is shown, of stage {found.stage + 1}", highlight=False)
    if gpu:
        for line in _verdict(made, question, found, gpu, usable, good):
            out.print(line, markup=False, highlight=False)


def _verdict(
    made: Architecture, question: rp.Question, found: rp.Report, gpu: str, usable: int, good: bool
) -> list[str]:
    """Return the lines under the table: whether it fits, and what would make it fit."""
    share = f", of which vLLM takes {rp.share_of(question.engine):.0%}" if question.engine.startswith("vllm") else ""
    lines = [f"{gpu} gives a program {_gib(usable)}{share}: it {'fits' if good else 'does not fit'}"]
    context, batch, cards = (value for _, value in _inverse(made, question, usable))
    if good:
        lines.append(
            f"at most: a context of {context:,} tokens with this batch, or {batch:,} sequences with this context"
        )
        return lines
    if context:
        lines.append(f"it would fit with a context of {context:,} tokens")
    if batch:
        lines.append(f"it would fit with {batch:,} sequences at once")
    if cards > question.tensor * question.pipeline:
        lines.append(f"it would fit on {cards:,} such cards (--tp {cards // question.pipeline})")
    for quant in ("fp8", "awq-int4"):
        if question.quant or made.quantization:
            break
        smaller = rp.with_values(question, quant=quant)
        if rp.fits(question.engine, rp.report(made, smaller), usable):
            lines.append(f"it would fit with weights in {quant} (--quant {quant})")
    if len(lines) == 1:
        lines.append("nothing simple makes it fit: not fewer tokens, not 64 cards, not 4-bit weights")
    return lines


def _sizes(question: rp.Question) -> str:
    sequences = "1 sequence" if question.batch == 1 else f"{question.batch:,} sequences"
    return f"{sequences} of {question.context:,} tokens"


def _how(term: Term, wide: bool) -> str:
    """Return how a term comes about: its formula, and its numbers where they are short and there is room."""
    return f"{term.formula} = {term.numbers}" if wide and len(term.numbers) <= SHORT else term.formula


def _between(low: int, high: int) -> str:
    return f"{_gib(low).removesuffix(' GiB')} to {_gib(high)}"


def _gib(size: int) -> str:
    return format_value(size, ",.2f GiB", "size_bytes")
