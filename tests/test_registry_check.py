"""Every rule of the validator is seen to fail: a small good data folder, and one planted fault for each rule."""

from datetime import date
from pathlib import Path

import pytest

from gpumoat.facts import STATUSES, VERDICTS
from gpumoat.registry_check import (
    COLUMNS,
    Problem,
    Row,
    check_registry,
    claim_names,
    claim_sources,
    find_repository,
    plain_address,
)

SOURCES = """schema = 1

[[source]]
id = "roe-2024"
kind = "paper"
short = "Roe 2024"
title = "On cards"
authors = ["Jane Roe"]
publisher = "A press"
url = "https://example.org/roe"
published = "2024-03"
copy = "PDF of the paper, read 2024-06-01."

[[source]]
id = "doe-2023"
kind = "log"
short = "Doe 2023"
title = "A machine's log"
publisher = "A forum"
url = "https://example.org/doe"
published = "2023"
"""

FACTS = """schema = 1

[[subject]]
id = "card-a"
kind = "gpu"
name = "Card A"

[[fact]]
id = "card-a.memory_bytes"
statement = "Card A has 8 GiB of memory."
value = 8
unit = "GiB"
as_of = "2024-03"
source = "roe-2024"
locator = "table 1"
status = "verified"
checked = "2024-06-01"

[[fact]]
id = "cards-sold-2024"
statement = "A thousand cards were sold."
value = 1000
unit = ""
as_of = "2024"
source = "roe-2024"
locator = "page 2"
status = "quoted"
checked = "2024-06-01"

[[fact]]
id = "cards-lost-2024"
statement = "Ten cards were lost."
value = 10
unit = ""
as_of = "2024-05-01"
source = "roe-2024"
locator = "page 3"
status = "unverified"
checked = "2024-06-01"
to_check = "The insurer's report"
"""

FORMS = """schema = 1

[[subject]]
id = "form-card"
kind = "gpu"
name = "Form card"

[[fact]]
id = "form-card.form_factor"
statement = "Form card is a module."
value = "module"
unit = ""
as_of = "2024-03"
source = "roe-2024"
locator = "table 1"
status = "verified"
checked = "2024-06-01"

[[fact]]
id = "form-card.first_date"
statement = "Form card was first sold in March 2024."
value = "2024-03"
unit = ""
as_of = "2024-03"
source = "roe-2024"
locator = "table 2"
status = "verified"
checked = "2024-06-01"
"""

CLAIMS = """schema = 1

[[claim]]
id = "lecture-cards-memory"
document = "lecture"
where = "1.1"
says = "Two cards hold 16 G."
value = 16
unit = "GiB"
verdict = "confirmed"
right = 16
expression = "2 * fact('card-a.memory_bytes')"
explanation = "Twice eight."
facts = ["card-a.memory_bytes", "cards-lost-2024"]

[[claim]]
id = "lecture-cards-label"
document = "chapter"
where = "2"
says = "A card holds 8.5 G."
value = 8.5
unit = "GB"
verdict = "approximately"
right = 8.59
within = 0.01
expression = "fact('card-a.memory_bytes')"
explanation = "A GiB is more than a GB."
facts = ["card-a.memory_bytes"]

[[claim]]
id = "lecture-cards-taste"
document = "lecture"
where = "1.2"
says = "Cards are pretty."
verdict = "opinion"
explanation = "It is a matter of taste."
facts = []
sources = ["doe-2023, line 3"]
"""

RUN = """{
  "schema": 1, "id": "card-a-copy", "title": "Copy", "device": "Card A", "driver": "1.2", "versions": {},
  "date": "2024-05-30", "script": "src/bench/copy.py",
  "results": {"copy_bytes_per_s": {"value": 4, "unit": "GB/s", "what": "read and write"}}, "raw": {}
}
"""

PAGE = 'Cards sold: {{ fact("cards-sold-2024"):,d }} [@roe-2024, line 3].\n'

FILES = {
    "data/sources/cards.toml": SOURCES,
    "data/facts/cards.toml": FACTS,
    "data/claims/cards.toml": CLAIMS,
    "data/measurements/card-a-copy.json": RUN,
    "docs/en/page.md": PAGE,
    "src/bench/copy.py": "",
    "pyproject.toml": "",
    "data/facts/forms.toml": FORMS,
    "data/review.toml": """schema = 1

[[rule]]
id = "price"
names = ["*price*"]
days = 1
why = "It moves."

[[rule]]
id = "other"
why = "The rest."
""",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def check(root: Path, today: date | None = None) -> list[Problem]:
    return check_registry(root / "data", today=today)


def test_a_good_folder_has_no_problems(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert check(tmp_path) == []
    assert check(tmp_path, today=date(2024, 6, 1)) == []


S, F, C, M, P = tuple(FILES)[:5]
R = "data/review.toml"
FACT = 'id = "card-a.memory_bytes"'
CARD = "fact card-a.memory_bytes"
SOLD = "fact cards-sold-2024"
O = "data/facts/forms.toml"  # noqa: E741 - one letter a file, as above
FIRST = 'value = "2024-03"'
MEMORY = "claim lecture-cards-memory"
LABEL = "claim lecture-cards-label"
TASTE = "claim lecture-cards-taste"

# rule: (file, what stands there, what is planted, the id of the problem, its field, words of its message)
FAULTS: dict[str, tuple[str, str, str, str, str, str]] = {
    "schema version": (S, "schema = 1", "schema = 2", "", "schema", "2 is not the version"),
    "schema missing": (F, "schema = 1", "", "", "schema", "use schema = 1"),
    "schema of a run": (M, '"schema": 1', '"schema": "1"', "", "schema", "'1' is not the version"),
    "schema is no truth value": (S, "schema = 1", "schema = true", "", "schema", "use schema = 1"),
    "unknown table": (S, "[[source]]", "[[sauce]]", "", "sauce", "this file holds [[source]]"),
    "table in the wrong file": (C, "[[claim]]", "[[fact]]", "", "fact", "this file holds [[claim]]"),
    "table that is no list": (F, "[[subject]]", "[subject]", "", "subject", "write [[subject]] above each row"),
    "unknown field": (F, "locator = ", "locater = ", "fact card-a.memory_bytes", "locater", "mean locator?"),
    "missing field": (F, 'locator = "table 1"\n', "", "fact card-a.memory_bytes", "locator", "missing"),
    "missing field of a source": (S, 'publisher = "A forum"\n', "", "source doe-2023", "publisher", "missing"),
    "missing field of a subject": (F, 'name = "Card A"\n', "", "subject card-a", "name", "missing"),
    "missing field of a claim": (C, 'says = "Two cards hold 16 G."\n', "", MEMORY, "says", "missing"),
    "missing field of a run": (M, '"driver": "1.2",', "", "measurement card-a-copy", "driver", "missing"),
    "missing id": (C, 'id = "lecture-cards-taste"\n', "", "claim (no id)", "id", "missing"),
    "empty field": (F, 'locator = "table 1"', 'locator = " "', "fact card-a.memory_bytes", "locator", "is empty"),
    "empty list": (S, 'authors = ["Jane Roe"]', "authors = []", "source roe-2024", "authors", "is empty"),
    "text for a number": (F, "value = 1000", 'value = "1000"', SOLD, "value", "it must be a number, without"),
    "text outside the catalogue": (F, "value = 1000", 'value = "many"', SOLD, "value", "only a field of a subject"),
    "text under a name with a unit": (F, "value = 8", 'value = "eight"', CARD, "value", "promises a number"),
    "date that is none": (O, FIRST, 'value = "2024-13"', "fact form-card.first_date", "value", "is no date: write"),
    "date as a number": (O, FIRST, "value = 2024", "fact form-card.first_date", "value", "a date is text in quotes"),
    "date of tomorrow": (
        O,
        FIRST,
        'value = "2024-06-02"',
        "fact form-card.first_date",
        "value",
        "after the day it was",
    ),
    "date of no subject": (
        F,
        'id = "cards-sold-2024"',
        'id = "cards-sold-date"',
        "fact cards-sold-date",
        "value",
        "in quotes",
    ),
    "date without the name of one": (
        O,
        'value = "module"',
        'value = "2024-03-01"',
        "fact form-card.form_factor",
        "value",
        "end its name in _date, such as form_factor_date",
    ),
    "unit of a text": (F, "value = 8", 'value = "eight"', CARD, "unit", "goes with a number"),
    "text is empty": (F, "value = 8", 'value = " "', CARD, "value", "is empty"),
    "rule of review": (
        F,
        "value = 8",
        'value = 8\nreview = "prize"',
        CARD,
        "review",
        "no rule 'prize': did you mean price",
    ),
    "review is no text": (F, "value = 8", "value = 8\nreview = 90", CARD, "review", "must be text"),
    "table of reviews": (R, "days = 1", "days = 0", "", "", "days: 0 is no number of days"),
    "text in an expression": (
        C,
        "2 * fact('card-a.memory_bytes')",
        "2 * fact('form-card.form_factor')",
        MEMORY,
        "expression",
        "is text, and an expression computes with numbers",
    ),
    "truth for a number": (F, "value = 1000", "value = true", SOLD, "value", "is bool True"),
    "number that is none": (F, "value = 1000", "value = nan", SOLD, "value", "it must be a number"),
    "number for text": (F, 'locator = "page 2"', "locator = 2", SOLD, "locator", "it must be text"),
    "list of no texts": (C, "facts = []", "facts = [1]", "claim lecture-cards-taste", "facts", "list of texts"),
    "date without quotes": (F, '"2024-05-01"', "2024-05-01", "fact cards-lost-2024", "as_of", "in quotes"),
    "no such day": (F, '"2024-05-01"', '"2024-02-30"', "fact cards-lost-2024", "as_of", "no date"),
    "date of another form": (F, '"2024-05-01"', '"1 May 2024"', "fact cards-lost-2024", "as_of", "2026-11 or 2026"),
    "day of check without a day": (F, 'checked = "2024-06-01"', 'checked = "2024-06"', "", "checked", "no date"),
    "fact from the future": (F, 'as_of = "2024"', 'as_of = "2024-07"', SOLD, "as_of", "after the day it was checked"),
    "read before it was published": (S, '"2024-03"', '"2025"', SOLD, "checked", "before its source was published"),
    "publication date": (S, 'published = "2023"', 'published = "23"', "source doe-2023", "published", "no date"),
    "date of a run": (M, "2024-05-30", "2024-05", "measurement card-a-copy", "date", "no date"),
    "status": (F, 'status = "quoted"', 'status = "true"', SOLD, "status", "use one of verified, quoted, unverified"),
    "verdict": (C, '"confirmed"', '"right"', MEMORY, "verdict", "use one of confirmed"),
    "document": (C, 'document = "chapter"', 'document = "book"', LABEL, "document", "use one of lecture, chapter"),
    "kind of a source": (S, '"log"', '"blog"', "source doe-2023", "kind", "use one of paper"),
    "unknown unit": (F, 'unit = "GiB"', 'unit = "GIB"', "fact card-a.memory_bytes", "unit", "GIB"),
    "unit that does not fit": (F, 'unit = "GiB"', 'unit = "GB/s"', "fact card-a.memory_bytes", "unit", "GB/s"),
    "no unit for bytes": (F, 'unit = "GiB"', 'unit = ""', "fact card-a.memory_bytes", "unit", "does not fit"),
    "unit that the id hides": (F, FACT, 'id = "card-a.memory"', "fact card-a.memory", "unit", "memory_bytes"),
    "unit of a claim": (C, 'unit = "GB"', 'unit = "Gb"', LABEL, "unit", "Gb"),
    "claim without a unit": (C, 'unit = "GB"\n', "", LABEL, "unit", "a number needs one"),
    "unit without a number": (
        C,
        'where = "1.2"',
        'where = "1.2"\nunit = "GB"',
        "claim lecture-cards-taste",
        "unit",
        "no number",
    ),
    "unit of a result": (
        M,
        '"GB/s"',
        '"GB"',
        "measurement card-a-copy",
        "results.copy_bytes_per_s.unit",
        "does not fit",
    ),
    "dangling source": (
        F,
        'source = "roe-2024"',
        'source = "rowe-2024"',
        "fact card-a.memory_bytes",
        "source",
        "mean roe-2024",
    ),
    "verified without a copy": (
        S,
        'copy = "PDF of the paper, read 2024-06-01."\n',
        "",
        "source roe-2024",
        "copy",
        "verified",
    ),
    "unverified without more": (
        F,
        'to_check = "The insurer\'s report"\n',
        "",
        "fact cards-lost-2024",
        "to_check",
        "name the document",
    ),
    "address": (S, "https://example.org/doe", "example.org/doe", "source doe-2023", "url", "https://"),
    "address of another": (S, "org/doe", "org/roe", "source doe-2023", "url", "is the address of 'roe-2024' too"),
    "address of another, spelled otherwise": (
        S,
        "https://example.org/doe",
        "http://www.Example.org/roe/",
        "source doe-2023",
        "url",
        "merge them",
    ),
    "no address, no reason": (S, "https://example.org/doe", "", "source doe-2023", "url", "say in copy why"),
    "id twice": (
        F,
        'id = "cards-lost-2024"',
        'id = "cards-sold-2024"',
        SOLD,
        "id",
        "stands already in facts/cards.toml",
    ),
    "form of an id": (S, 'id = "doe-2023"', 'id = "Doe 2023"', "source Doe 2023", "id", "not of the form"),
    "form of a fact's id": (F, FACT, 'id = "card-a.Memory_bytes"', "fact card-a.Memory_bytes", "id", "not of the form"),
    "subject without facts": (F, FACT, 'id = "card-a-memory-bytes"', "subject card-a", "id", "has no facts"),
    "fact without a subject": (F, FACT, 'id = "card-b.memory_bytes"', "fact card-b.memory_bytes", "id", "mean card-a?"),
    "unused fact": (P, "cards-sold-2024", "cards-told-2024", SOLD, "id", 'read it as fact("cards-sold-2024")'),
    "dangling fact": (C, '"cards-lost-2024"', '"cards-list-2024"', MEMORY, "facts", "mean cards-lost-2024"),
    "fact that is read in silence": (C, '"card-a.memory_bytes", ', "", MEMORY, "facts", "which the expression reads"),
    "dangling source of a claim": (C, '"doe-2023, line 3"', '"do-2023, line 3"', TASTE, "sources", "mean doe-2023"),
    "sources that are no list": (C, '["doe-2023, line 3"]', '"doe-2023"', TASTE, "sources", "list of texts"),
    "right is not right": (C, "right = 16\n", "right = 16.1\n", MEMORY, "right", "gives, 16 within 0.001"),
    "right beyond its own tolerance": (C, "within = 0.01", "within = 0.0", LABEL, "right", "8.589934592 within 0"),
    "tolerance": (C, "within = 0.01", "within = 2", LABEL, "within", "from 0 to 1"),
    "right without expression": (
        C,
        "expression = \"2 * fact('card-a.memory_bytes')\"\n",
        "",
        MEMORY,
        "expression",
        "stands alone",
    ),
    "expression without right": (C, "right = 16\n", "", MEMORY, "right", "stands alone"),
    "judged without a right value": (
        C,
        "right = 8.59\nwithin = 0.01\nexpression = \"fact('card-a.memory_bytes')\"\n",
        "",
        LABEL,
        "right",
        "against the right one",
    ),
    "judged by nothing": (
        C,
        'verdict = "opinion"\nexplanation = "It is a matter of taste."\nfacts = []\nsources = ["doe-2023, line 3"]',
        'verdict = "wrong"\nexplanation = "It is a matter of taste."\nfacts = []',
        TASTE,
        "facts",
        "nothing decides that it is wrong",
    ),
    "opinion with arithmetic": (
        C,
        'verdict = "approximately"',
        'verdict = "opinion"',
        LABEL,
        "verdict",
        "has a right value",
    ),
    "confirmed, but wrong": (C, "value = 16\n", "value = 17\n", MEMORY, "verdict", "17 is stated and 16 is right"),
    "confirmed, but not at that precision": (C, '"approximately"', '"confirmed"', LABEL, "verdict", "8.5 is stated"),
    "wrong, but right": (
        C,
        'verdict = "confirmed"',
        'verdict = "wrong"',
        MEMORY,
        "verdict",
        "the scale says confirmed",
    ),
    "wrong, but near": (C, 'verdict = "approximately"', 'verdict = "wrong"', LABEL, "verdict", "says approximately"),
    "outdated, with nothing of its time": (
        C,
        'verdict = "approximately"',
        'verdict = "outdated"',
        LABEL,
        "verdict",
        "no `then` says what was right",
    ),
    "outdated, and wrong even then": (
        C,
        'value = 16\nunit = "GiB"\nverdict = "confirmed"',
        'value = 20\nunit = "GiB"\nverdict = "outdated"\nthen = "3 * fact(\'card-a.memory_bytes\')"',
        MEMORY,
        "verdict",
        "it was wrong even then",
    ),
    "then of what is not outdated": (
        C,
        'verdict = "confirmed"',
        'verdict = "confirmed"\nthen = "fact(\'card-a.memory_bytes\')"',
        MEMORY,
        "then",
        "has no use",
    ),
    "then that is no Python": (
        C,
        'verdict = "confirmed"',
        'verdict = "confirmed"\nthen = "2 **"',
        MEMORY,
        "then",
        "no Python expression",
    ),
    "form": (C, 'unit = "GiB"', 'unit = "GiB"\nform = "about"', MEMORY, "form", "use one of more than"),
    "bound of nothing": (C, "value = 16\n", 'value = 0\nform = "more than"\n', MEMORY, "form", "must be above 0"),
    "bound that is kept": (
        C,
        "value = 8.5\n",
        'value = 8.5\nform = "more than"\n',
        LABEL,
        "verdict",
        "more than 8.5 is stated and 8.589934592 is right: the scale says confirmed",
    ),
    "why of what needs none": (
        C,
        'verdict = "confirmed"',
        'verdict = "confirmed"\nwhy = "It is so."',
        MEMORY,
        "why",
        "has no use",
    ),
    "expression of constants": (
        C,
        "2 * fact('card-a.memory_bytes')",
        "16 * max(GIB, 2)",
        MEMORY,
        "expression",
        "tests nothing",
    ),
    "expression is no Python": (C, "2 * fact(", "2 ** * fact(", MEMORY, "expression", "no Python expression"),
    "expression with an unknown name": (C, "2 * fact(", "two * fact(", MEMORY, "expression", "'two' is not defined"),
    "expression reads nothing": (
        C,
        "2 * fact('card-a.memory_bytes')",
        "fact('card-a.memory')",
        MEMORY,
        "expression",
        "no fact 'card-a.memory'",
    ),
    "expression that raises": (C, "2 * fact(", "2 / 0 * fact(", MEMORY, "expression", "division by zero"),
    "expression that gives no number": (
        C,
        "2 * fact('card-a.memory_bytes')",
        "'16'",
        MEMORY,
        "expression",
        "must give a number",
    ),
    "expression reaches out": (C, "2 * fact(", "open('x') and fact(", MEMORY, "expression", "'open' is not defined"),
    "id of a run": (M, '"card-a-copy"', '"card-a"', "measurement card-a", "id", "use 'card-a-copy'"),
    "script of a run": (M, "bench/copy.py", "bench/copies.py", "measurement card-a-copy", "script", "no file"),
    "script outside": (M, "src/bench/copy.py", "../copy.py", "measurement card-a-copy", "script", "from its root"),
    "result that is no object": (
        M,
        '{"value": 4, "unit": "GB/s", "what": "read and write"}',
        "4",
        "measurement card-a-copy",
        "results.copy_bytes_per_s",
        "must be an object",
    ),
    "result without what": (
        M,
        ', "what": "read and write"',
        "",
        "measurement card-a-copy",
        "results.copy_bytes_per_s.what",
        "missing",
    ),
    "no results": (
        M,
        '{"copy_bytes_per_s": {"value": 4, "unit": "GB/s", "what": "read and write"}}',
        "{}",
        "measurement card-a-copy",
        "results",
        "is empty",
    ),
    "broken TOML": (C, 'where = "1.1"', "where = 1.1.1", "", "", "line 6: "),
    "unclosed TOML": (
        C,
        'explanation = "It is a matter of taste."\nfacts = []\n',
        'explanation = "It is',
        "",
        "",
        "line 36: ",
    ),
    "broken JSON": (M, '"title":', '"title"', "", "", "line 2: "),
    "JSON of another shape": (M, RUN, "[1]", "", "", "one object"),
}


@pytest.mark.parametrize("rule", FAULTS)
def test_a_planted_fault_is_found(rule: str, tmp_path: Path) -> None:
    name, old, new, id, field, words = FAULTS[rule]
    assert old in FILES[name], "the fault is planted in nothing"
    write(tmp_path, FILES | {name: FILES[name].replace(old, new, 1)})
    problems = check(tmp_path)
    file = name.removeprefix("data/")
    found = [one for one in problems if id in one.id and one.field == field and words in one.message]
    assert found, "\n".join(map(str, problems)) or "no problem at all"
    if name.startswith("data/") and rule != "read before it was published":  # that one shows at the facts
        assert found[0].file == file
    for one in problems:
        assert one.message
        assert "\n" not in str(one), "a problem is one line"


def test_a_fault_brings_few_others(tmp_path: Path) -> None:
    """A typo is one problem: a reader should not have to look for it among its consequences."""
    for rule in ("unknown unit", "status", "right is not right", "address", "tolerance", "no such day"):
        name, old, new, *_ = FAULTS[rule]
        write(tmp_path, FILES | {name: FILES[name].replace(old, new, 1)})
        assert len(check(tmp_path)) <= 2, rule


def test_an_id_is_given_once_over_all_files(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"data/facts/more.toml": FACTS})
    found = [one for one in check(tmp_path) if one.field == "id" and "stands already" in one.message]
    assert {one.file for one in found} == {"facts/more.toml"}
    assert len(found) == 4


def test_a_claim_names_the_model_whose_shape_it_reads(tmp_path: Path) -> None:
    shape = {
        "hidden": 4,
        "layers": 1,
        "heads": 2,
        "head_dim": 2,
        "feed_forward_ratio": 4,
        "vocabulary": 8,
        "positions": 8,
    }
    facts = FACTS + '\n[[subject]]\nid = "tiny"\nkind = "model"\nname = "Tiny"\n'
    for field, value in shape.items():
        plain = FACTS.split("[[fact]]")[2].replace('"cards-sold-2024"', f'"tiny.{field}"')
        facts += "\n[[fact]]" + plain.replace("value = 1000", f"value = {value}")
    expression = "parameters(gpt_shape('tiny')) * GIB"
    claims = CLAIMS.replace("2 * fact('card-a.memory_bytes')", expression)
    expected = 4 * (8 + 8) + (12 * 4**2 + 13 * 4) + 2 * 4  # Vh + Ph + L(12h² + 13h) + 2h
    claims = claims.replace("value = 16", f"value = {expected}").replace("right = 16", f"right = {expected}")
    write(tmp_path, FILES | {F: facts, C: claims})
    assert [str(one) for one in check(tmp_path)] == [
        f"claims/cards.toml: {MEMORY}: facts: name none of 'tiny', whose shape the expression reads"
    ]
    write(tmp_path, {C: claims.replace('"cards-lost-2024"]', '"cards-lost-2024", "tiny.hidden"]')})
    assert check(tmp_path) == []


def test_the_pages_of_another_site_need_not_use_our_facts(tmp_path: Path) -> None:
    write(tmp_path / "ours", FILES)
    write(tmp_path / "theirs", {"docs/en/page.md": "Nothing.\n", "pyproject.toml": ""})
    problems = check_registry(tmp_path / "ours" / "data", repository=tmp_path / "theirs")
    assert [one.field for one in problems] == ["script"], "only what a measurement was made with is looked for there"


def test_a_right_value_may_come_from_a_source_alone(tmp_path: Path) -> None:
    expression = "expression = \"2 * fact('card-a.memory_bytes')\"\n"
    named = 'facts = ["card-a.memory_bytes", "cards-lost-2024"]\n'
    bare = CLAIMS.replace(expression, "").replace(named, named + 'sources = ["doe-2023, line 3"]\n')
    write(tmp_path, FILES | {C: bare})
    assert check(tmp_path) == []
    write(tmp_path, {C: bare.replace("right = 16\n", "right = 18\n")})
    (problem,) = check(tmp_path)
    assert problem.field == "verdict"
    assert "18 is right: the scale says wrong" in problem.message


def test_an_expression_of_constants_names_the_source_of_its_numbers(tmp_path: Path) -> None:
    typed = CLAIMS.replace("2 * fact('card-a.memory_bytes')", "16 * GIB")
    named = 'facts = ["card-a.memory_bytes", "cards-lost-2024"]\n'
    write(tmp_path, FILES | {C: typed.replace(named, named + 'sources = ["doe-2023, line 3"]\n')})
    assert check(tmp_path) == []


def test_a_reason_excuses_a_verdict_that_the_scale_does_not_give(tmp_path: Path) -> None:
    other = CLAIMS.replace('verdict = "confirmed"', 'verdict = "wrong"\nwhy = "It is a limit, and not kept."')
    write(tmp_path, FILES | {C: other})
    assert check(tmp_path) == []


def test_a_source_that_only_a_claim_names_is_used(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert check(tmp_path) == []
    write(tmp_path, {C: CLAIMS.replace('sources = ["doe-2023, line 3"]\n', "")})
    assert [(one.id, one.field) for one in check(tmp_path)] == [("source doe-2023", "id")]


def test_addresses_of_different_documents_are_different(tmp_path: Path) -> None:
    """A part of a page may be a document of its own, and so may a page whose path differs in a capital."""
    one = "https://example.org/roe"
    for other in (one + "#table-2", one.replace("roe", "Roe"), one + "?page=2", one.replace(".org", ".net")):
        assert plain_address(other) != plain_address(one)
        write(tmp_path, FILES | {S: SOURCES.replace("https://example.org/doe", other)})
        assert check(tmp_path) == []


def test_the_sources_of_a_claim_are_an_id_and_a_place() -> None:
    row = {"sources": ["doe-2023, line 3, column b", "roe-2024"]}
    assert claim_sources(row) == [("doe-2023", "line 3, column b"), ("roe-2024", "")]
    assert claim_sources({}) == []


def test_a_measurement_can_stand_behind_a_claim(tmp_path: Path) -> None:
    claims = CLAIMS.replace(
        "2 * fact('card-a.memory_bytes')", "4 * GIB * measured('card-a-copy', 'copy_bytes_per_s') / GB"
    )
    write(tmp_path, FILES | {C: claims})
    assert check(tmp_path) == []
    write(tmp_path, {C: claims.replace("'copy_bytes_per_s'", "'copy'")})
    assert any("no result 'copy'" in one.message for one in check(tmp_path))


def test_dates_are_held_against_the_clock_only_on_request(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    late = {(one.id, one.field) for one in check(tmp_path, today=date(2024, 5, 15))}
    assert late >= {(SOLD, "checked"), ("measurement card-a-copy", "date")}
    assert "lies after today, 2024-05-15" in str(check(tmp_path, today=date(2024, 5, 15))[0])


def test_no_folder_and_missing_files_are_problems(tmp_path: Path) -> None:
    assert [one.message for one in check(tmp_path)] == ["no such data folder"]
    (tmp_path / "data").mkdir()
    assert {(one.file, one.message) for one in check(tmp_path)} == {
        ("sources", "holds no file: put rows into sources/<topic>.toml"),
        ("claims", "holds no file: put rows into claims/<topic>.toml"),
    }


@pytest.mark.parametrize("name", ["sources", "claims", "facts"])
def test_rows_of_all_topics_in_one_file_are_a_problem(tmp_path: Path, name: str) -> None:
    write(tmp_path, FILES | {f"data/{name}.toml": "schema = 1\n"})
    (found,) = check(tmp_path)
    assert str(found).startswith(f"{name}.toml: move its rows into {name}/<topic>.toml: one file a topic")


def test_an_id_stands_in_one_topic_only(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"data/sources/again.toml": SOURCES})
    assert {(one.file, one.field) for one in check(tmp_path)} == {("sources/cards.toml", "id")}


def test_a_file_that_is_no_text_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / C).write_bytes(b"schema = 1\n# \xff\n")
    assert [str(one) for one in check(tmp_path) if "UTF-8" in one.message] == [
        "claims/cards.toml: byte 13 is no UTF-8: save the file as UTF-8"
    ]


def test_without_a_checkout_use_and_scripts_are_not_checked(tmp_path: Path) -> None:
    write(tmp_path, {name: text for name, text in FILES.items() if name.startswith("data/")})
    if find_repository(tmp_path / "data") is None:
        assert check(tmp_path) == []


def test_a_problem_is_one_readable_line() -> None:
    one = Problem("facts/cards.toml", "fact a.b", "unit", "is wrong: use GiB")
    assert str(one) == "facts/cards.toml: fact a.b: unit: is wrong: use GiB"
    assert str(Problem("claims.toml", "", "", "line 3: no valid TOML")) == "claims.toml: line 3: no valid TOML"


def test_an_expression_sees_the_models_and_nothing_else() -> None:
    names = claim_names({"a": Row("fact", "x", {"id": "a", "value": 2, "unit": "KiB"})}, {})
    assert names["fact"]("a") == 2048
    assert names["GIB"] == 2**30
    assert names["__builtins__"] == {}
    assert {"parameters", "kv_cache_bytes", "dtype_bytes", "measured"} <= set(names)


def test_every_rule_table_is_complete() -> None:
    """The columns that the contract of the data files names are the ones that are checked."""
    assert set(COLUMNS) == {"source", "subject", "fact", "claim", "measurement", "result"}
    assert set(STATUSES) == {"verified", "quoted", "unverified"}
    assert len(VERDICTS) == 7
