"""Columns of any type: small cases that the table of odd inputs does not reach."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from podium.base.columns import exact_float, float_numbers, id_text, number_ids, plain_column, text_ids, whole_numbers
from podium.base.errors import DataError, ParameterError
from podium.evaluation.paired import paired_differences
from podium.evaluation.significance import compare_systems
from podium.parsing.ids import Ids


def test_the_same_number_is_the_same_id_however_it_is_held():
    sevens = [7, 7.0, np.int8(7), np.float32(7), decimal.Decimal("7.00"), "7", b"7", np.str_("7"), np.bytes_(b"7")]
    assert {id_text(seven) for seven in sevens} == {"7"}
    assert number_ids(sevens, "id")[0].tolist() == [0] * len(sevens)
    assert id_text(-0.0) == "0"
    assert {id_text(half) for half in (1.5, np.float32(1.5), decimal.Decimal("1.50"))} == {"1.5"}


@pytest.mark.parametrize("micro", [0, 100_000, 123_456])
def test_the_same_moment_is_the_same_id_however_it_is_held(micro):
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, micro)
    held = [moment, np.datetime64(moment, "us"), np.datetime64(moment, "ns"), pd.Timestamp(moment)]
    assert {id_text(one) for one in held} == {moment.isoformat()}
    west = moment.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-5)))
    assert id_text(pd.Timestamp(west)) == id_text(west) == west.isoformat()
    assert id_text(np.datetime64("2020-01-02T03:04:05.10000001")) == "2020-01-02T03:04:05.100000010"


def test_ids_as_bytes_are_ids():
    assert text_ids(Ids.of(["a", "é"]), "id").tolist() == ["a", "é"]


def test_bytes_that_are_no_text_are_ids_of_their_own():
    codes, names = number_ids([b"\xff", b"\xfe", b"\xff"], "id")
    assert codes.tolist() == [0, 1, 0]
    assert names == ["\udcff", "\udcfe"]


def test_a_missing_id_has_no_number_if_that_may_be():
    assert number_ids(["a", None, "b", float("nan"), "a"], "id", optional=True) == (
        pytest.approx([0, -1, 1, -1, 0]),
        ["a", "b"],
    )
    codes, names = number_ids(pd.Series([5, None, 5], dtype="Int64"), "id", optional=True)
    assert (codes.tolist(), names) == ([0, -1, 0], ["5"])
    with pytest.raises(DataError, match="row 1 has no id"):
        number_ids(["a", None], "id")


def test_numbers_are_the_callers_own():
    given = np.array([1.0, 2.0])
    float_numbers(given, "score")[0] = 9
    assert given.tolist() == [1, 2]


def test_large_whole_numbers_that_are_exact_are_taken():
    assert float_numbers([2**60, -(2**53) - 2], "label").tolist() == [2.0**60, -(2.0**53) - 2]
    assert exact_float(2**53 + 2) == 2.0**53 + 2
    with pytest.raises(DataError, match="row 1: label 9007199254740993 would be rounded to 9007199254740992"):
        float_numbers(np.array([0, 2**53 + 1]), "label")


@pytest.mark.parametrize("values", [[0.5], ["a"], [True], [2**63], [2.0**53]], ids=repr)
def test_what_is_no_row_number_is_refused(values):
    with pytest.raises(DataError, match=r"rows must be whole numbers|float so large"):
        whole_numbers(values, "row")


def test_shapes_are_named():
    with pytest.raises(DataError, match=r"weights of a voter: expected one per row; got shape \(2, 2\)"):
        plain_column(np.eye(2), "weight of a voter")
    with pytest.raises(DataError, match="probabilities of a preference: expected one per row, in order; got dict"):
        plain_column({}, "probability of a preference")


def test_values_that_hold_others_are_refused():
    for value in (pd.Series([1, 2]), pd.DataFrame({"a": [1]}), np.ma.masked, iter("a"), range(2)):
        with pytest.raises(DataError, match=r"row 1: id .* is no id"):
            text_ids(["a", value], "id")
        with pytest.raises(DataError, match=r"row 1: label .* is no number"):
            float_numbers([1, value], "label")


def test_lists_of_one_are_read_as_what_they_hold():
    assert number_ids([["a"], ["a\0"], [2**63], [-1]], "id")[1] == ["a", "a\0", "9223372036854775808", "-1"]


@pytest.mark.parametrize("lost", [np.ma.masked_array([0.1, 0.5, 0.9], mask=[0, 1, 0]), [0.1, None, 0.9]])
def test_a_masked_value_of_a_query_is_one_that_is_skipped(lost):
    full = [0.3, 0.4, 0.5]
    assert paired_differences(lost, full)[1] == 1
    (pair,) = compare_systems([lost, full], ["a", "b"]).pairs
    assert pair.dropped == 1
    with pytest.raises(DataError, match="values of a query must be numbers; got complex"):
        paired_differences(np.array(full) + 1j, full)
    with pytest.raises(ParameterError, match="seed must be a whole number"):
        compare_systems(np.random.default_rng(0).random((2, 40)), ["a", "b"], seed=-1)
