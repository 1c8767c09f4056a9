"""Pairs that a click model was not fitted on have the relevance of its prior."""

import functools

import pytest

from podium.clicks import ClickLog, ClickModel, fit


@functools.cache
def with_a_new_document():
    return ClickLog.from_pages([("q", ["a", "new"], [])])


@functools.cache
def three_pages():
    return ClickLog.from_pages([("q", ["a", "b", "c"], [1]), ("q", ["b", "a", "c"], [2]), ("q", ["c", "b"], [])])


@pytest.mark.parametrize("name", [name for name in ClickModel.catalogue() if name not in ("gctr", "rctr")])
def test_an_unknown_pair_is_as_relevant_as_the_prior_says(name):
    fitted = fit(three_pages(), name)
    known, unknown = fitted.relevance_in(with_a_new_document())
    assert known == fitted.relevance()[0]
    assert unknown == (0.25 if name in ("dbn", "sdbn") else 0.5)  # attractive, and satisfying
