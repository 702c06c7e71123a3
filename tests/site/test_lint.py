"""The lint against a planted set of faults and innocents, and against random sentences."""

import re
import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.site.lint import (
    Finding,
    Name,
    Waiver,
    apply_waivers,
    lint_navigation,
    lint_page,
    lint_project,
    lint_script,
    lint_source,
    lint_text,
    load_names,
    load_waivers,
)
from gpumoat.site.lint_core import NAMES_FILE, quantities
from gpumoat.site.lint_page import page_runs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FAULTS = tomllib.loads((HERE / "lint_faults.toml").read_text("utf-8"))["fault"]
INNOCENTS = tomllib.loads((HERE / "lint_innocents.toml").read_text("utf-8"))["innocent"]
LINTS = {"page": lint_page, "script": lint_script, "source": lint_source, "nav": lint_navigation}
PAGE = Path("docs/en/memory/gpt3.md")


def lint(entry: dict[str, str]) -> list[Finding]:
    kind = entry.get("kind", "page")
    name = {"page": "page.md", "script": "example.py", "source": "src/gpumoat/model.py", "nav": "mkdocs.yml"}[kind]
    return LINTS[kind](Path(name), entry["text"])


# The planted set.


def test_planted_set_is_large_enough() -> None:
    assert len(FAULTS) >= 60
    assert len(INNOCENTS) >= 60
    assert all(entry["why"] for entry in FAULTS + INNOCENTS)


@pytest.mark.parametrize("entry", FAULTS, ids=lambda entry: entry["why"][:50])
def test_planted_fault_is_found_at_its_line(entry: dict[str, str]) -> None:
    found = lint(entry)
    assert [(finding.line, finding.quantity) for finding in found] == [(entry.get("line", 1), entry["quantity"])]


@pytest.mark.parametrize("entry", INNOCENTS, ids=lambda entry: entry["why"][:50])
def test_innocent_text_passes(entry: dict[str, str]) -> None:
    assert [str(finding) for finding in lint(entry)] == []


@pytest.mark.parametrize("entry", [e for e in FAULTS if e.get("kind", "page") == "page"], ids=lambda e: e["why"][:50])
def test_column_points_at_the_quantity(entry: dict[str, str]) -> None:
    """The finding begins where the source has the quantity's first character, or the markup that makes it."""
    (finding,) = lint(entry)
    rest = entry["text"].split("\n")[finding.line - 1][finding.column - 1 :]
    assert rest[0] == finding.quantity[0] or rest.startswith(("{{", "&#", "`", "６", "٦", "𝟔"))


def test_every_message_says_what_would_be_right() -> None:
    remedies = (
        "make it {{ … }}",
        "put the unit into the format",
        "by a door",
        "cite one",
        "a fact(id)",
        "is a fact or",
    )
    for entry in FAULTS:
        (finding,) = lint(entry)
        assert any(remedy in finding.message for remedy in remedies)
        assert str(finding).startswith(f"{finding.path}:{finding.line}:{finding.column}: {finding.quantity}")


# Names.


@pytest.mark.parametrize("name", load_names(), ids=lambda name: name.example)
def test_name_passes_and_its_neighbours_do_not(name: Name) -> None:
    assert lint_text(f"It is called {name.example} today.") == []
    assert lint_text(f"{name.example}, and 96 of them.") == ["96"]
    assert lint_text(f"About 7{name.example} of it.") != []


def test_no_name_swallows_a_plain_quantity() -> None:
    for text in ("96", "650 GiB", "3.35 TB/s", "12,288", "80 GB", "175B", "1e9", "40 %", "10x", "7 nm", "5", "90"):
        assert lint_text(text) != [], text


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("pattern = 'H100'\nexample = 'H100'", "lacks what"),
        ("pattern = 'H100'\nexample = 'A100'\nwhat = 'x'", "does not match its example"),
        ("pattern = '('\nexample = 'A100'\nwhat = 'x'", "no regular expression"),
        ("pattern = 'Grace'\nexample = 'Grace'\nwhat = 'x'", "holds no digit"),
    ],
)
def test_bad_name_is_refused(tmp_path: Path, entry: str, complaint: str) -> None:
    path = tmp_path / "names.toml"
    path.write_text(f"[[name]]\n{entry}\n")
    with pytest.raises(ValueError, match=re.escape(complaint)):
        load_names(path)


def test_names_file_is_the_one_that_is_shipped() -> None:
    assert NAMES_FILE == ROOT / "src" / "gpumoat" / "data" / "names.toml"


# Waivers.


def waiver(**changes: str) -> Waiver:
    fields = {
        "page": PAGE.as_posix(),
        "number": "42 layers",
        "sentence": "has 42 layers",
        "reason": "a joke, marked as one",
    }
    fields |= changes
    return Waiver(fields["page"], fields["number"], fields["sentence"], fields["reason"])


def test_waiver_covers_its_number_in_its_sentence_only() -> None:
    found = lint_page(PAGE, "Deep Thought has 42 layers. Another one has 42 layers less.\n\nIt had 42 layers.")
    kept = apply_waivers(found, [waiver(sentence="Deep Thought has")], Path("docs/waivers.toml"))
    assert [finding.column for finding in kept] == [45, 8]


@pytest.mark.parametrize(
    "changes",
    [{"page": "docs/en/index.md"}, {"number": "42"}, {"sentence": "had 42 layers"}],
    ids=lambda c: next(iter(c)),
)
def test_waiver_that_covers_nothing_is_a_finding(changes: dict[str, str]) -> None:
    kept = apply_waivers(lint_page(PAGE, "It has 42 layers."), [waiver(**changes)], Path("docs/waivers.toml"))
    assert [finding.rule for finding in kept] == ["digits", "waiver"]
    assert "covers nothing" in kept[1].message


@pytest.mark.parametrize("missing", ["page", "number", "sentence", "reason"])
def test_waiver_needs_every_field(tmp_path: Path, missing: str) -> None:
    fields = {"page": "a.md", "number": "42", "sentence": "has 42", "reason": "long enough to say why"}
    path = tmp_path / "waivers.toml"
    path.write_text("schema = 1\n\n[[waiver]]\n" + "".join(f'{k} = "{v}"\n' for k, v in fields.items() if k != missing))
    with pytest.raises(ValueError, match=rf"waivers.toml:3: a waiver needs {missing}"):
        load_waivers(path)


def test_waiver_with_a_short_reason_or_an_unknown_field_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "waivers.toml"
    entry = '[[waiver]]\npage = "a.md"\nnumber = "42"\nsentence = "has 42"\nreason = "{}"\n'
    path.write_text(entry.format("because"))
    with pytest.raises(ValueError, match="too short"):
        load_waivers(path)
    path.write_text(entry.format("long enough to say why") + 'rule = "digits"\n')
    with pytest.raises(ValueError, match="unknown field rule"):
        load_waivers(path)
    path.write_text(entry.format("long enough to say why"))
    assert load_waivers(path) == [Waiver("a.md", "42", "has 42", "long enough to say why", 1)]


def test_the_shipped_waivers_are_valid() -> None:
    load_waivers(ROOT / "docs" / "waivers.toml")


# Files.


def test_project_is_linted_whole(tmp_path: Path) -> None:
    files = {
        "docs/en/a.md": "It has 96 layers.\n",
        "docs/zh/a.md": "有96层。\n",
        "docs/examples/a.py": "layers = 96\n",
        "src/gpumoat/model.py": "share = 0.92\n",
        "src/gpumoat/site/page.py": "width = 96\n",
        "src/gpumoat/units.py": "HOUR = 3600\n",
        "mkdocs.yml": "site_name: All 96 layers\n",
        "docs/waivers.toml": "[[waiver]]\npage = 'docs/en/a.md'\nnumber = '96 layers'\n"
        "sentence = 'It has'\nreason = 'planted for a test'\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    found = {finding.path.relative_to(tmp_path).as_posix(): finding.quantity for finding in lint_project(tmp_path)}
    expected = {
        "docs/zh/a.md": "96层",
        "docs/examples/a.py": "96",
        "src/gpumoat/model.py": "0.92",
        "mkdocs.yml": "96 layers",
    }
    assert found == expected


def test_page_is_read_from_disk_with_any_line_end(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_bytes(b"# Title\r\n\r\nIt has 96 layers.\r\n")
    assert [(finding.line, finding.column) for finding in lint_page(page)] == [(3, 8)]


# Random texts.

UNITS = ["GiB", "GB", "TB/s", "%", "layers", "nm", "W", "USD", "×", "x", "days", "billion", "TFLOP/s", "tokens", ""]
TEMPLATES = [
    "It takes {} at most.",
    "- It takes {}.",
    "> It takes {} at most.",
    "## What {} buys",
    "It takes **{}**, which is *a lot*.",
    "| part | size |\n|---|---|\n| all | {} |",
    "See [all {}](x.md).",
    "![a bar of {}](x.svg)",
    "/// figure | name\n    alt: It takes {}\n\n///",
    "/// details | It takes {}\n\nText.\n///",
    "Text[^1].\n\n[^1]: It takes {}.",
    "<p title='It takes {}'>text</p>",
    '!!! note "It takes {}"\n    Text.',
    "It is cited, and takes {} [@brown-2020].",
]
numbers = st.one_of(
    st.integers(3, 10**12).filter(lambda n: not 1900 <= n < 2100).map(str),
    st.integers(1000, 10**12).map(lambda n: f"{n:,}"),
    st.floats(0.01, 1e6).map(lambda x: f"{x:.2f}"),
    st.integers(2, 30).map(lambda n: f"1e{n}"),
)
quantity_texts = st.builds(lambda n, unit: f"{n} {unit}".strip(), numbers, st.sampled_from(UNITS))


@given(st.sampled_from(TEMPLATES), quantity_texts)
@settings(max_examples=150, deadline=None)
def test_typed_quantity_is_found_in_any_place(template: str, quantity: str) -> None:
    text = template.format(quantity)
    found = lint_page(Path("page.md"), text)
    assert len(found) == 1
    assert found[0].quantity == quantity
    line = text.count("\n", 0, text.index(quantity)) + 1
    assert (found[0].line, found[0].column) == (line, text.split("\n")[line - 1].index(quantity) + 1)


@given(
    st.sampled_from(TEMPLATES),
    st.from_regex(r"[a-z]{1,8}(_[a-z]{1,5}){0,2}(\[[0-9]\])?", fullmatch=True),
    st.sampled_from(["", ":.0f", ":,", ":.2f GiB", ":.1f billion USD", ":.0f %", ":.3e"]),
)
@settings(max_examples=100, deadline=None)
def test_inline_number_passes_in_any_place(template: str, name: str, spec: str) -> None:
    assert lint_page(Path("page.md"), template.format("{{ " + name + spec + " }}")) == []


QUIET = st.text(alphabet=string.ascii_lowercase + " ", max_size=30).map(lambda line: line.strip())


@given(st.lists(QUIET, max_size=4), st.lists(QUIET.filter(lambda line: line not in ("---", "")), max_size=6))
@settings(max_examples=60, deadline=None)
def test_line_is_counted_in_the_file_on_disk(front: list[str], before: list[str]) -> None:
    head = ["---", *(f"key: {line}" for line in front), "---"] if front else []
    text = "\n".join([*head, *before, "It has 96 layers."])
    assert [(f.line, f.quantity) for f in lint_page(Path("p.md"), text)] == [(len(head) + len(before) + 1, "96 layers")]


@given(st.text(alphabet=st.sampled_from("ab 9.,*_`$[](){}<>!|#\\\n:=~^&;-/\"'½é\u00a0"), max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_error_and_in_bounds(text: str) -> None:
    for run in page_runs(text):
        assert len(run.text) == len(run.at)
        assert all(0 <= offset <= len(text) for offset in run.at)
    for finding in lint_page(Path("p.md"), text):
        assert 1 <= finding.line <= text.count("\n") + 1


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_decimal_digit_escapes_from_plain_prose(text: str) -> None:
    """Whatever stands around it, a digit with a unit in words of its own is found."""
    assert any("96" in quantity for quantity in lint_text(f"{text} \n\nThey take 96 GiB."))


@given(st.sampled_from([block for block in range(0x110000) if chr(block).isdecimal()][::10]), st.integers(10, 999))
@settings(max_examples=60, deadline=None)
def test_digits_of_any_script_are_found(zero: int, number: int) -> None:
    written = "".join(chr(zero + int(digit)) for digit in str(number))
    assert lint_text(f"They take {written} GiB.") == [f"{number} GiB"]


@given(
    st.integers(3, 10**6),
    st.sampled_from(["x = {}", "f({})", "x = [a, {}]", "x = y * {} + 1", "f(n={})", "x = {{'a': {}}}"]),
)
@settings(max_examples=60, deadline=None)
def test_literal_is_found_in_a_script_and_passes_through_assume(number: int, template: str) -> None:
    script = Path("example.py")
    assert [f.quantity for f in lint_script(script, template.format(number) + "\n")] == [str(number)]
    assert lint_script(script, template.format(f'assume({number}, "chosen for the test")') + "\n") == []


def test_offsets_are_those_of_the_given_text() -> None:
    text = "\u00ad\u00adIt takes\u200b ６\u200b5 GiB."
    (quantity,) = quantities(text)
    assert (text[quantity.start : quantity.end], quantity.text) == ("６\u200b5 GiB", "65 GiB")
