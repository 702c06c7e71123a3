"""The way from a number's card to the form that reports it: every name in the link is a field of the form.

Policy: the repository's address is empty in the checkout, so the link is tested with an address that nobody has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

FORMS = Path(__file__).resolve().parents[2] / ".github" / "ISSUE_TEMPLATE"
ADDRESS = "https://git.example.org/a/b"


def form(name: str = "wrong-number.yml") -> dict[str, Any]:
    """An issue form."""
    return yaml.safe_load((FORMS / name).read_text(encoding="utf-8"))


def fields(read: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The form's fields by their ids."""
    return {part["id"]: part for part in read["body"] if "id" in part}


@pytest.fixture
def link(checkout):
    """The link on the card of the first number of a page, in a repository that has an address."""

    def of(text: str, example: str = "") -> dict[str, list[str]]:
        settings = (checkout.root / "mkdocs.yml").read_text("utf-8")
        checkout.settings(settings.replace('repository: ""', f"repository: {ADDRESS}/"))
        if example:
            checkout.example(example)
        tree = checkout.render(text).tree
        address = urlsplit(tree.xpath('string((.//a[@class="gm-report"])[1]/@href)'))
        assert f"{address.scheme}://{address.netloc}{address.path}" == f"{ADDRESS}/issues/new"
        assert address.fragment == "", "a # in a name would cut the address off"
        return parse_qs(address.query, strict_parsing=True)

    return of


def test_the_link_fills_in_the_form(link) -> None:
    asked = link('A card has {{ rows[1]["memory_bytes"]:.1f GiB }}.')
    assert {key: value for key, (value,) in asked.items()} == {
        "template": "wrong-number.yml",
        "title": "Wrong number: 2.0 GiB in part/page.md",
        "page": "part/page.md",
        "number": '2.0 GiB (rows[1]["memory_bytes"]:.1f GiB)',
    }


def test_every_name_in_the_link_is_a_field_that_takes_text(link) -> None:
    known = fields(form())
    names = set(link("It has {{ layers }}.")) - {"template", "title"}
    assert names <= set(known)
    assert {known[name]["type"] for name in names} <= {"input", "textarea"}, "only these can be filled in by an address"


@pytest.mark.parametrize("sign", ["&", "#", "=", "+", "%", " ", "?", "é"])
def test_no_sign_breaks_the_address(link, sign: str) -> None:
    asked = link(f"It is {{{{ found['a{sign}b'] }}}}.", f"found = {{'a{sign}b': 2}}\n")
    assert asked["number"] == [f"2 (found['a{sign}b'])"]


def test_the_form_asks_for_what_a_correction_needs() -> None:
    read = form()
    known = fields(read)
    assert {"page", "number", "right", "source"} <= set(known)
    for name in ("page", "number", "right", "source"):
        assert known[name]["validations"]["required"] is True
    assert all(part["type"] in {"markdown", "input", "textarea", "checkboxes"} for part in read["body"])
    assert {"name", "description", "title", "body"} <= set(read)
    assert form("config.yml") == {"blank_issues_enabled": True}


def test_a_pull_request_is_asked_for_the_lock_the_sources_and_the_drafts() -> None:
    asked = (FORMS.parent / "pull_request_template.md").read_text(encoding="utf-8")
    for heading in ("## The diff of docs/numbers.lock", "## Sources that I opened", "## Parts drafted by a machine"):
        assert heading in asked
