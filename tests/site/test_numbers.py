"""The scanner of inline numbers, and the number that it makes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.facts import Read, Record
from gpumoat.site.numbers import Inline, NumberError, full_value, make_number, scan
from gpumoat.site.provenance import Origin
from gpumoat.units import Unit, name_unit


class TestScan:
    @pytest.mark.parametrize(
        ("text", "expression", "spec"),
        [
            ("{{ layers }}", "layers", ""),
            ("{{layers}}", "layers", ""),
            ("{{ weights_bytes:.0f GiB }}", "weights_bytes", ".0f GiB"),
            ("{{ share:.0%}}", "share", ".0%"),
            ('{{ fact("a:b"):,d }}', 'fact("a:b")', ",d"),
            ("{{ fact('}}') }}", "fact('}}')", ""),
            ("{{ fact('|!{') }}", "fact('|!{')", ""),
            ('{{ d["a]"]:d }}', 'd["a]"]', "d"),
            ("{{ rows[0].x:.1f billion USD }}", "rows[0].x", ".1f billion USD"),
            ("{{ x[1:2] }}", "x[1:2]", ""),  # the colon inside brackets is no format; the expression is refused later
        ],
    )
    def test_what_stands_between_the_braces(self, text, expression, spec):
        found, end = scan(f"as {text} is }}}}", 3)
        assert (found.expression, found.spec, found.raw) == (expression, spec, text)
        assert end == 3 + len(text)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("{{ layers", "not closed"),
            ("{{ layers }", "no braces inside"),
            ("{{ layers\n}}", "not closed on its line"),
            ("{{ fact('a) }}", "not closed"),
            ("{{ x[0 }}", "no braces inside"),
            ("{{ {{ a }} }}", "no braces inside"),
            ("{{ {1: 2}[1] }}", "no braces inside"),
            ("{{ x:{width}d }}", "no braces inside"),
            ("{{ x!r }}", "no ! in"),
            ("{{ x\\_y }}", "no backslash"),
            ("{{ fact('a\\'b') }}", "no backslash"),
            ("{{ a | b }}", r"no \| in"),
            ("{{ a := 1 }}", "no := in"),
            ("{{ lambda: 1 }}", "no lambda"),
            ("{{ lambda x: x }}", "no lambda"),
            ("{{ }}", "is empty"),
            ("{{:.1f}}", "is empty"),
        ],
    )
    def test_what_is_not_allowed_is_named(self, text, words):
        with pytest.raises(NumberError, match=words):
            scan(text, 0)

    @given(st.text(alphabet="{}[]()\"':|!\\ \nab.1", max_size=20))
    def test_it_ends_or_says_why_not(self, inside):
        text = "{{" + inside + "}}"
        try:
            found, end = scan(text, 0)
        except NumberError:
            return
        assert text[:end] == found.raw
        assert found.raw.endswith("}}")
        assert found.expression == found.expression.strip() != ""


def bare(value, unit: Unit, name: str, kind: str = "cited") -> Origin:
    door = Read(kind, "card.x", value, unit, Record("fact", {"id": "card.x"}, "t"))
    return Origin(value, kind, name, [door], [], [], door)


BYTES = Unit("bytes", 1, 1, "bytes")


class TestNumber:
    def test_the_name_states_the_unit(self):
        number = make_number(Inline("a_bytes", ".0f GiB", "{{…}}"), Origin(2**30, "computed", "a_bytes"))
        assert (number.text, number.full) == ("1 GiB", "1,073,741,824 bytes")

    def test_a_bare_read_brings_its_unit_where_the_name_is_silent(self):
        number = make_number(Inline("capacity", ".0f GiB", "{{…}}"), bare(2**30, BYTES, "capacity"))
        assert (number.text, number.full) == ("1 GiB", "1,073,741,824 bytes")

    def test_a_wrong_format_quotes_the_page(self):
        with pytest.raises(NumberError, match=r"\{\{ layers:\.0f GiB \}\}: unit 'GiB' does not fit layers"):
            make_number(Inline("layers", ".0f GiB", "{{ layers:.0f GiB }}"), Origin(96, "computed", "layers"))

    @pytest.mark.parametrize(
        ("unit", "name"),
        [
            (BYTES, "run_s"),
            (Unit("", 1, 1, ""), "weights_bytes"),
            (name_unit("x_bytes_per_s"), "weights_bytes"),
            (name_unit("x_bytes"), "rate_bytes_per_s"),
            (name_unit("rented_hours"), "rented_s"),
            (BYTES, "used_share"),
        ],
    )
    def test_a_read_under_a_name_of_another_unit_is_an_error(self, unit, name):
        with pytest.raises(NumberError, match=f"{name} is named in .*, and card.x is"):
            make_number(Inline(name, "", "{{…}}"), bare(3, unit, name))

    @pytest.mark.parametrize(
        ("unit", "name", "text"),
        [
            (Unit("", 1, 1, ""), "speedup_ratio", "3×"),
            (name_unit("x_bytes_per_parameter"), "weight_bytes", "3 bytes"),
        ],
    )
    def test_plain_numbers_and_things_counted_may_change_their_name(self, unit, name, text):
        assert make_number(Inline(name, "", "{{…}}"), bare(3, unit, name)).text == text

    def test_an_assumption_is_in_the_unit_of_its_name(self):
        assert (
            make_number(Inline("a_bytes", "", ""), bare(3, Unit("", 1, 1, ""), "a_bytes", "assumed")).text == "3 bytes"
        )

    def test_in_full(self):
        assert full_value(Origin(0.45, "computed", "used_share")) == "0.45"
        assert full_value(Origin(2, "computed", "rented_hours")) == "2 h"
        assert full_value(Origin("H200", "computed", "name")) == "H200"
