"""Review dates: which rule a fact falls under, by when it is due, and what a broken table of rules says."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.facts import DataError, Record, Registry, registry
from gpumoat.review import (
    CONDITIONS,
    due_since,
    load_rules,
    newest_check,
    read_rules,
    review_by,
    rule_of,
    schedule,
)

GOOD = """schema = 1
[[rule]]
id = "constant"
chosen_only = true
why = "It does not change."
[[rule]]
id = "price"
names = ["*price*"]
statuses = ["verified", "quoted"]
days = 90
why = "It moves."
[[rule]]
id = "other"
days = 365
why = "The rest."
"""


def world(**facts: dict[str, str]) -> Registry:
    """A registry with one card, one paper and one log, and the facts given by id (an underscore for a hyphen)."""
    found = Registry()
    found.add("subjects", {"id": "card", "kind": "gpu"}, "t")
    for kind in ("paper", "log", "article"):
        found.add("sources", {"id": kind, "kind": kind}, "t")
    base = {"source": "article", "status": "quoted", "unit": "", "value": 1}
    for id, row in facts.items():
        found.add("facts", {"id": id.replace("__", ".").replace("_", "-"), **base, **row}, "facts/x.toml")
    return found


@pytest.mark.parametrize(
    ("id", "row", "rule"),
    [
        ("h100_price_2025", {}, "price"),
        ("card__price", {"status": "verified"}, "price"),
        ("card__rent", {"unit": "USD/h"}, "price-per-hour"),
        ("nvidia_market_value_2026", {}, "market-value"),
        ("h100_price_2025", {"status": "unverified"}, "unverified"),
        ("card__memory", {"status": "verified", "source": "log"}, "machine-log"),
        ("card__memory", {"status": "verified"}, "card-verified"),
        ("card__memory", {"status": "quoted"}, "card-quoted"),
        ("gpt3_layers", {"source": "paper"}, "published-for-good"),
        ("c_light", {"review": "constant"}, "constant"),
        ("ic_import_2023", {}, "other"),
    ],
)
def test_the_rule_of_a_fact(id, row, rule):
    known = world(**{id: row})
    assert rule_of(next(iter(known.facts.values())), known).id == rule


def test_prices_are_looked_at_sooner_than_datasheets_and_constants_never():
    days = {rule.id: rule.days for rule in load_rules()}
    assert days["price"] == days["market-value"] < days["unverified"] < days["card-quoted"] < days["card-verified"]
    assert days["constant"] is None
    assert days["machine-log"] is None


class TestDates:
    """The newest check of the registry stands for today."""

    def test_a_planted_stale_fact_is_due_and_a_fresh_one_is_not(self):
        known = world(
            old_price={"checked": "2026-01-01"},
            new_price={"checked": "2026-05-01"},
            old_page={"checked": "2026-01-01"},
        )
        assert newest_check(known) == date(2026, 5, 1)
        assert due_since(known.facts["old-price"], known) == date(2026, 1, 1) + timedelta(days=90)
        assert due_since(known.facts["new-price"], known) is None
        assert due_since(known.facts["old-page"], known) is None

    def test_the_day_itself_is_still_in_time(self):
        last = (date(2026, 1, 1) + timedelta(days=90)).isoformat()
        known = world(old_price={"checked": "2026-01-01"}, other={"checked": last})
        assert due_since(known.facts["old-price"], known) is None

    def test_what_cannot_change_is_never_due(self):
        known = world(speed={"checked": "1990-01-01", "review": "constant"}, new={"checked": "2026-05-01"})
        assert due_since(known.facts["speed"], known) is None
        assert review_by(known.facts["speed"], known) is None

    def test_a_fact_without_a_date_is_no_crash(self):
        known = world(odd={"checked": "soon"}, none={})
        assert newest_check(known) is None
        assert [one.day for one in schedule(known)] == [None, None]

    def test_the_schedule_begins_with_the_earliest(self):
        known = world(b_price={"checked": "2026-02-01"}, a_price={"checked": "2026-03-01"}, c={"source": "paper"})
        assert [one.fact.id for one in schedule(known)] == ["b-price", "a-price", "c"]

    @given(st.dates(date(2000, 1, 1), date(2090, 1, 1)), st.integers(min_value=0, max_value=2000))
    def test_due_if_and_only_if_more_days_have_passed_than_the_rule_gives(self, checked, later):
        known = world(
            a_price={"checked": checked.isoformat()}, now={"checked": (checked + timedelta(days=later)).isoformat()}
        )
        assert (due_since(known.facts["a-price"], known) is not None) == (later > 90)


def test_a_sound_table_is_read():
    rules = read_rules(GOOD)
    assert [rule.id for rule in rules] == ["constant", "price", "other"]
    assert dict(rules[1].conditions) == {"names": ("*price*",), "statuses": ("verified", "quoted")}


def test_all_conditions_of_a_rule_must_hold():
    known = world(a_price={"status": "unverified"})
    assert rule_of(known.facts["a-price"], known, read_rules(GOOD)).id == "other"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema = 1", "schema = 2", "must hold schema = 1"),
        ("schema = 1", "schema = 1\nx = 1", "and nothing else"),
        ("[[rule]]", "[rule", "review.toml: "),
        ("days = 90", "days = 0", "rule 'price': days: 0 is no number of days"),
        ("days = 90", "days = true", "rule 'price': days: True"),
        ("days = 90", 'days = "90"', "rule 'price': days: '90'"),
        ("days = 90", "day = 90", "rule 'price': day: unknown"),
        ('why = "It moves."', "", "rule 'price': why: missing"),
        ('why = "It moves."', 'why = " "', "rule 'price': why: missing"),
        ('id = "price"', "", "rule '(no id)': id: missing"),
        ('id = "price"', 'id = "constant"', "stands there twice"),
        ('names = ["*price*"]', 'names = "*price*"', "rule 'price': names: must be a list of texts"),
        ('names = ["*price*"]', "names = []", "must be a list of texts"),
        ("chosen_only = true", 'chosen_only = "yes"', "must be true or false"),
        ("chosen_only = true\n", "", "rule 'constant': has no condition"),
        ("days = 365", 'days = 365\nunits = ["x"]', "the last rule must have no condition"),
    ],
)
def test_a_planted_fault_in_the_table_is_named(old, new, words):
    with pytest.raises(DataError) as caught:
        read_rules(GOOD.replace(old, new, 1))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_rule_that_there_is_not_is_an_error():
    known = world(a={"review": "sometimes"})
    with pytest.raises(DataError, match="fact 'a': review: no rule 'sometimes': use one of constant"):
        rule_of(known.facts["a"], known)


def test_every_condition_is_tried():
    """A condition that nothing looks at would be a rule that never applies, or always."""
    known = world(card__price={"unit": "USD", "status": "quoted", "source": "log"})
    values = dict(zip(CONDITIONS, ("card.price", "USD", "quoted", "log", "gpu"), strict=True))
    for field in CONDITIONS:
        other = f'schema = 1\n[[rule]]\nid = "a"\nwhy = "x"\n{field} = ["{{}}"]\n[[rule]]\nid = "b"\nwhy = "y"\n'
        record: Record = known.facts["card.price"]
        assert rule_of(record, known, read_rules(other.format(values[field]))).id == "a", field
        assert rule_of(record, known, read_rules(other.format("else"))).id == "b", field


def test_every_rule_of_the_package_is_for_something():
    """A rule without a fact is a promise that nobody keeps; prices and values come with their chapters."""
    used = {one.rule.id for one in schedule(registry())}
    waiting = {"constant", "price", "price-per-hour", "market-value"}
    assert {rule.id for rule in load_rules()} - used <= waiting
