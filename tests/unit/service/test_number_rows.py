"""Numbers in JSON become the float32 that a decoder's doubles become; anything else is left to the decoder."""

import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podium.service.number_rows import read_rows

TEXTS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**17), 10**17).map(str),
    st.from_regex(r"-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.just("null"),
)


def decoded(texts):
    with np.errstate(over="ignore"):
        values = [math.nan if text == "null" else float(json.loads(text)) for text in texts]
        return np.array(values, np.float64).astype(np.float32)


def same_bits(a, b):
    return np.array_equal(np.isnan(a), np.isnan(b)) and np.array_equal(
        a[~np.isnan(a)].view(np.uint32), b[~np.isnan(b)].view(np.uint32)
    )


@given(st.lists(TEXTS, min_size=1, max_size=8))
@example(["16777217", "-0", "-0.0", "-0e5", "0e5", "33554435.0"])
def test_numbers_have_the_bits_that_the_decoder_gives_or_are_left_to_it(texts):
    found = read_rows([f"[{' , '.join(texts)}]".encode()], len(texts))
    assert found is None or same_bits(found[0], decoded(texts))


def test_usual_numbers_are_read_here():
    values = np.random.default_rng(3).standard_normal((40, 7)) * 10.0 ** np.arange(-6, 8, 2)
    values[3, 2] = math.nan
    for write in (repr, "{:.5g}".format, lambda value: repr(float(np.float32(value)))):
        texts = [["null" if math.isnan(value) else write(float(value)) for value in row] for row in values]
        found = read_rows([f"[{','.join(row)}]".encode() for row in texts], 7)
        assert found is not None
        assert all(same_bits(a, decoded(b)) for a, b in zip(found, texts, strict=True))


def test_a_double_between_two_float32_is_left_to_the_decoder():
    middle = 1.0 + 2.0**-24
    for value in (math.nextafter(middle, 0.0), middle, math.nextafter(middle, 2.0)):
        found = read_rows([f"[{value!r}]".encode()], 1)
        assert found is None or found[0, 0] == np.float32(value)
    assert read_rows([b"[1.00000005960464477]"], 1) is None


@pytest.mark.parametrize(
    "text",
    ["[1]", "[1,2,3]", "[1,]", "[1 2]", "[01,2]", "[1.,2]", "[.5,2]", "[+1,2]", "[-,2]", "[1e,2]", "[1e+,2]", "[nul,2]",
     "[-null,2]", "[true,2]", '["1",2]', "[[1],2]", "[NaN,2]", "[Infinity,2]", "[1e999,2]", "[1,2]]", "[1,2", "1,2",
     "[", "", "{}", '{"a":1}', "[0x1,2]", "[1" + "0" * 400 + ",2]"],
)  # fmt: skip
def test_what_is_no_row_of_two_numbers_is_left_to_the_decoder(text):
    assert read_rows([text.encode()], 2) is None
    assert read_rows([b"[1,2]", text.encode()], 2) is None


def test_rows_are_told_apart():
    assert read_rows([b"[1,2]", b"[3,\n\t4 ]"], 2).tolist() == [[1, 2], [3, 4]]
    assert read_rows([b"[1]", b"[2,3,4]"], 2) is None
    assert read_rows([], 2).shape == (0, 2)
    assert read_rows([b"[]"], 0) is None


def test_the_same_request_is_answered_alike_however_its_numbers_are_read(start, models):
    client = start(models=(str(models / "web.podium"),))
    rows = np.random.default_rng(1).standard_normal((20, 3)).astype(np.float32).astype(float)
    lists = {"documents": [{"id": f"D{k}", "features": row} for k, row in enumerate(rows.tolist())]}
    named = {"documents": [{"id": f"D{k}", "features": dict(zip(("bm25", "title", "age"), row, strict=True))}
                           for k, row in enumerate(rows.tolist())]}  # fmt: skip
    turned = {**lists, "features": ["age", "title", "bm25"],
              "documents": [{"id": f"D{k}", "features": row[::-1]} for k, row in enumerate(rows.tolist())]}  # fmt: skip
    answers = [client("POST", "/v1/rank", json.dumps(one).encode(), content_type="application/json").json["results"]
               for one in (lists, named, turned)]  # fmt: skip
    batch = client("POST", "/v1/rank", {"queries": [lists]}).json["answers"][0]["results"]
    assert answers[0] == answers[1] == answers[2] == batch
