"""The reader against the slow and obvious one, on lines that are nearly right and on arbitrary bytes."""

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError
from podium.data import Dataset
from podium.formats import read_letor, write_letor
from reference import letor as reference

good_numbers = st.one_of(
    st.integers(-5, 300).map(str),
    st.floats(-1e38, 1e38).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(str),
    st.from_regex(r"[+-]?[0-9]{1,25}\.?[0-9]{0,25}([eE]-?[0-9])?", fullmatch=True),
)
numbers = st.one_of(
    good_numbers,
    st.floats().map(repr),
    st.from_regex(r"[+-]?[0-9]{0,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["nan", "NULL", "inf", "-inf", "", ".", "-", "1e", "1e+", "0e999", "1_0", "+1", "--1", "१"]),
)
ids = st.one_of(st.integers(1, 12), st.integers(-1, 10**8))
spaces = st.sampled_from([" ", "  ", "\t", " \r", "\x0b"])
comments = st.one_of(st.just(""), st.text(alphabet="#ab =\tdoci7é\r", max_size=12).map("#".__add__))


@st.composite
def good_texts(draw: st.DrawFn) -> bytes:
    """Lines that are right, unless a number is too large for its place."""
    heads = st.sampled_from([" qid:1", " qid:2", " qid:é#", " qid:" + "x" * 30]) if draw(st.booleans()) else st.just("")
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        features = draw(st.lists(st.integers(1, 10**8), max_size=5, unique=True))
        values = [draw(st.one_of(good_numbers, st.sampled_from(["nan", "NULL"]))) for _ in features]
        words = [f"{c}:{value}" for c, value in zip(features, values, strict=True)]
        lines.append(draw(good_numbers) + draw(heads) + "".join(draw(spaces) + w for w in words) + draw(comments))
    return "\n".join(lines).encode()


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line that is nearly right."""
    label, space = draw(st.one_of(st.integers(0, 4).map(str), numbers)), draw(spaces)
    head = draw(st.sampled_from([" qid:1", " qid:2", " qid:é#", "", " qid:", " qid:1 qid:2"]))
    words = draw(st.lists(st.tuples(ids.map(str), numbers).map(":".join), max_size=5))
    return label + head.replace(" ", space) + "".join(space + word for word in words) + draw(comments)


texts = st.lists(lines(), max_size=6).map("\n".join).map(str.encode)
garbage = st.binary(max_size=200)
near = st.lists(
    st.sampled_from(
        [b"1", b"0", b" ", b"qid:", b"qid:7", b":", b"\n", b"#", b".", b"e", b"\r", b"\x00", b"\xff", b"nan"]
    ),
    max_size=40,
).map(b"".join)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.one_of(good_texts(), texts, garbage, near), st.sampled_from([16, 64, 2**18]))
@example(b"1 qid:1 1:1", 16)
@example(b"\n", 16)
@example(b"1 qid:1 1:12345678 2:123456789 3:1.12345678 4:.5 5:5. 12345678:1\n", 64)
def test_any_bytes_are_read_as_the_slow_reader_does_or_refused(text, chunk):
    try:
        expected = reference.read(text)
    except (ValueError, OverflowError):
        with pytest.raises(DataError):
            read(text, chunk)
        return
    data = read(text, chunk)
    np.testing.assert_array_equal(data.labels, [line.label for line in expected])
    if expected[0].qid is not None:
        assert data.query_ids[data.query_index].tolist() == [line.qid for line in expected]
    notes = [line.comment for line in expected]
    assert (notes if data.comments is None else data.comments.tolist()) == notes
    assert data.n_features == max((c for line in expected for c in line.features), default=0)
    for row, line in enumerate(expected):
        kept = {c + 1: data.features[row, c] for c in data.features[[row], :].nonzero()[1].tolist()}
        wanted = {c: value for c, value in line.features.items() if value != 0}
        assert kept.keys() == wanted.keys()
        assert np.array_equal([kept[c] for c in kept], [wanted[c] for c in kept], equal_nan=True)


def read(text: bytes, chunk: int) -> Dataset:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("podium.parsing.whole_lines.CHUNK", chunk)
        return read_letor(io.BytesIO(text), sparse=True)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    n, d = draw(st.integers(1, 12)), draw(st.integers(0, 4))
    cell = st.one_of(st.integers(-3, 3).map(float), st.floats(width=32, allow_infinity=False))
    X = np.array(draw(st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n)), np.float32).reshape(
        n, d
    )
    labels = draw(
        st.lists(
            st.one_of(st.integers(0, 4).map(float), st.floats(allow_nan=False, allow_infinity=False)),
            min_size=n,
            max_size=n,
        )
    )
    names = st.text(
        alphabet=st.characters(exclude_categories=["Z", "C"], exclude_characters="#"), min_size=1, max_size=5
    )
    qid = draw(st.lists(st.one_of(names, st.sampled_from("ab")), min_size=n, max_size=n))
    notes = draw(st.one_of(st.none(), st.lists(st.text(alphabet="docid = 1é#\t", max_size=9), min_size=n, max_size=n)))
    return Dataset.from_arrays(X, labels, qid=qid, comments=notes)


@settings(max_examples=200, deadline=None)
@given(datasets())
def test_any_dataset_is_read_back_as_it_was_written(data):
    file = io.BytesIO()
    write_letor(data, file)
    back = read_letor(io.BytesIO(file.getvalue()))
    assert np.array_equal(back.features, data.features, equal_nan=True)
    assert back.labels.tolist() == data.labels.tolist()
    assert back.query_index.tolist() == data.query_index.tolist()
    assert back.query_ids.tolist() == data.query_ids.tolist()
    if data.comments is not None and any(data.comments):
        assert back.comments.tolist() == data.comments.tolist()
