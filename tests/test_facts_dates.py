"""The date of a fact comes out of its data file, and reading it is a read of the fact."""

import pytest

from gpumoat import as_of
from gpumoat.facts import DataError, recording, registry


def test_a_facts_date_is_what_its_file_says() -> None:
    with recording() as reads:
        text = as_of("gpt3.layers")
    assert text == registry().facts["gpt3.layers"].row["as_of"] == "2020-05"
    assert [read.key for read in reads] == [("cited", "gpt3.layers")]


def test_an_unknown_fact_has_no_date() -> None:
    with pytest.raises(DataError, match=r"no fact 'gpt3\.layer'"):
        as_of("gpt3.layer")
