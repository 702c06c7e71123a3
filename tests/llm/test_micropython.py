"""The reader and its arithmetic on MicroPython, as they will run in the reader's browser: the same answers as here."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import gpumoat
from gpumoat.facts import registry
from gpumoat.llm.configs import config_entry
from gpumoat.site.bundle import bundle

ROOT = Path(__file__).parents[2]
MICROPYTHON = ROOT / "tests" / "micropython"
NODE = shutil.which("node")
PACKAGE = Path(gpumoat.__file__).parent
PLAIN = ["__init__.py", "units.py", "facts.py", "hardware.py", "partition.py", "dates.py"]
MODULES = PLAIN + sorted(f"llm/{path.name}" for path in (PACKAGE / "llm").glob("*.py"))
IDS = ["llama-3.1-8b", "gpt-oss-20b", "deepseek-v3", "gemma-4-e4b", "nemotron-3-nano-30b-a3b", "deepseek-v4-flash"]

needs_micropython = pytest.mark.skipif(
    NODE is None or not (MICROPYTHON / "node_modules" / "@micropython").is_dir(),
    reason="no node, or no MicroPython: run npm ci in tests/micropython",
)

SETUP = """
import json
from gpumoat import facts
from gpumoat.llm import configs
from gpumoat.llm.load import read_config
from gpumoat.llm.counts import total_parameters, active_parameters, by_part
from gpumoat.llm.cache import CacheRules, bytes_per_token, state_bytes_per_sequence
from gpumoat.llm.report import Question, largest_batch, report
models = {}
def model(id):
    if id not in models:
        models[id] = read_config(json.loads(CONFIGS[id]), id)
    return models[id]
def refused(id, name, value):
    config = json.loads(CONFIGS[id])
    config[name] = value
    try:
        read_config(config)
    except ValueError as error:
        return str(error)
    return "read"
"""
IN_THE_BROWSER = """
configs._held["defaults"] = json.loads(DEFAULTS)
facts._registry = facts.Registry()
with open("/registry.json") as stream:
    for table, rows in json.load(stream).items():
        for row in rows:
            facts._registry.add(table, row, "registry.json")
"""
EXPRESSIONS = [
    f"{what}"
    for id in IDS
    for what in (
        f"total_parameters(model({id!r}))",
        f"active_parameters(model({id!r}))",
        f"[[part.name, part.parameters, part.formula] for part in by_part(model({id!r}))]",
        f"bytes_per_token(model({id!r}))",
        f"state_bytes_per_sequence(model({id!r}), CacheRules())",
        f"[[term.name, term.size_bytes, term.low, term.numbers] for term in report(model({id!r}), Question()).terms]",
    )
]
EXPRESSIONS += [
    "largest_batch(model('llama-3.1-8b'), Question(), 85000000000)",
    "refused('llama-3.1-8b', 'hidden_size', -5)",
    "refused('llama-3.1-8b', 'num_key_value_heads', 5)",
    "refused('llama-3.1-8b', 'layer_types', ['strange'])",
]


def held():
    """What the browser gets as text: configs, and the defaults of classes."""
    configs = {id: json.dumps(config_entry(id)["config"]) for id in IDS}
    defaults = json.loads((PACKAGE / "data" / "class_defaults.json").read_text("utf-8"))["types"]
    return f"CONFIGS = {configs!r}\nDEFAULTS = {json.dumps(defaults)!r}\n"


@needs_micropython
def test_answers_are_those_of_cpython():
    spec = importlib.util.spec_from_file_location("answers", MICROPYTHON / "answers.py")
    answers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(answers)
    tables = ("sources", "subjects", "facts", "claims", "measurements")
    rows = {table: [record.row for record in getattr(registry(), table).values()] for table in tables}
    files = bundle(PACKAGE, MODULES) | {
        "answers.py": (MICROPYTHON / "answers.py").read_text(encoding="utf-8"),
        "registry.json": json.dumps(rows, default=str),
    }
    asked = {"files": files, "setup": held() + SETUP + IN_THE_BROWSER, "expressions": EXPRESSIONS}
    done = subprocess.run(
        [NODE, "run.mjs"], input=json.dumps(asked), capture_output=True, encoding="utf-8", cwd=MICROPYTHON, check=False
    )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    here = answers.answers(held() + SETUP, EXPRESSIONS)
    for expression, one, other in zip(EXPRESSIONS, there, here, strict=True):
        assert one == other, expression
