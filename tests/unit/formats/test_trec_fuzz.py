"""The TREC reader against the slow and obvious one, on lines that are nearly right and on arbitrary bytes."""

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError
from podium.formats import read_qrels, read_run, write_run
from podium.parsing.ids import encoded
from reference import trec as reference

words = st.sampled_from(
    [b"q1", b"q2", b"a", b"#x", b"d#1", b"\xff\xfe", "é".encode(), b"x" * 30, b"\x00", b"\x1c", b"-"]
)
numbers = st.one_of(
    st.integers(-3, 400).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"[+-]?[0-9]{1,30}\.?[0-9]{0,30}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["nan", "inf", "one", ".", "1_0", "+.5", "5.", "1e", "0x1", "१", "-0", "1e400"]),
).map(lambda text: text.encode())
spaces = st.sampled_from([b" ", b"  ", b"\t", b" \r", b"\x0b", b"\x0c "])
ends = st.sampled_from([b"\n", b"\r\n", b"\n\n", b" \n# a comment\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Lines that are right or nearly so, of either format."""
    columns, lines = draw(st.sampled_from([4, 6])), []
    for _ in range(draw(st.integers(0, 8))):
        row = [draw(words) for _ in range(columns)]
        row[{4: 3, 6: 4}[columns]] = draw(st.one_of(st.sampled_from([b"0", b"1", b"2.5"]), numbers))
        if draw(st.booleans()):
            row[2] = b"d%d" % draw(st.integers(0, 99))
        if draw(st.integers(0, 9)) == 0:
            row = row[:-1] if draw(st.booleans()) else [*row, b"more", b"words"]
        lines.append(draw(spaces).join(row) + draw(ends))
    text = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + b"".join(lines)
    return text.rstrip(b"\n") if draw(st.booleans()) else text


near = st.lists(
    st.sampled_from(
        [b"q", b"1", b" ", b" 0 ", b"\n", b"q 0 d 1\n", b"q Q0 d 1 2.5 t\n", b"#", b".", b"\r", b"\x00", b"\xff"]
    ),
    max_size=30,
).map(b"".join)


# lines that begin and end nearly as the line before
alike = st.lists(
    st.sampled_from(
        [
            b"q 0 d%d 1\n", b"q 0  d%d 1\n", b"q 0 d%d 1 \n", b"q 0 d%d 1\r\n", b"q 00 d%d 1\n", b"r 0 d%d 1\n",
            b"q Q0 d%d 1 2.5 t\n", b"q Q0 d%d 12 -2.5 t\n", b"q Q0 d%d 1 2.5 tt\n", b"q Q0 d%d 1 2.5 t more\n",
            b"q Q0 d%d 1 2.5\n", b"q Q0 d%d 1 2.5t\n", b"q Q0 \n", b"#q 0 d%d 1\n",
        ]
    ),
    max_size=12,
).map(lambda lines: b"".join(line.replace(b"%d", b"%d" % k) for k, line in enumerate(lines)))  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(files(), alike, near, st.binary(max_size=100)), st.sampled_from([4, 6]), st.sampled_from([16, 64, 2**18])
)
@example(b"q 0 d 1", 4, 16)
@example(b"q Q0 d 1 2.5 t\nr Q0 d 1 2.5 t\nq Q0 e 1 1 t", 6, 16)
def test_any_bytes_are_read_as_the_slow_reader_does_or_refused(data, columns, chunk):
    read = {4: read_qrels, 6: read_run}[columns]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("podium.parsing.whole_lines.CHUNK", chunk)
        try:
            expected, tag = reference.read(data, columns)
        except ValueError:
            with pytest.raises(DataError):
                read(io.BytesIO(data))
            return
        found = read(io.BytesIO(data))
    assert [encoded(query) for query in found.query_ids] == list(expected)
    assert found.offsets.tolist() == np.cumsum([0, *map(len, expected.values())]).tolist()
    assert [encoded(name) for name in found.document_ids] == [name for group in expected.values() for name in group]
    values = [value for group in expected.values() for value in group.values()]
    numbers = found.labels if columns == 4 else found.scores
    assert numbers.tolist() == values
    assert np.signbit(numbers).tolist() == np.signbit(values).tolist()
    if columns == 6:
        assert encoded(found.tag) == tag
        written = io.BytesIO()
        write_run(found, written)
        again, _ = reference.read(written.getvalue(), 6)
        assert {q: dict(group) for q, group in again.items()} == expected


@pytest.mark.parametrize("chunk", [16, 64, 2**18])
def test_the_error_is_that_of_the_first_wrong_line(chunk, monkeypatch):
    monkeypatch.setattr("podium.parsing.whole_lines.CHUNK", chunk)
    for text, line in [
        (b"q 0 a 1\nr 0 a 1\n\n# note\nq 0 a 1\nr 0 a\n", 5),
        (b"q 0 a 1\nr 0 a one\nq 0 a 1\n", 2),
        (b"q 0 a 1\nr 0 b 2\nq 0 b 1\nr 0 c 1\nr 0 b 1\nq 0 a inf\n", 5),
        (b"q 0 a 1\nq 0 a nan\n", 2),
    ]:
        with pytest.raises(DataError, match=f":{line}: "):
            read_qrels(io.BytesIO(text))
    with pytest.raises(DataError, match="document 'a' stands twice in query 'q'"):
        read_qrels(io.BytesIO(b"q 0 a 1\nq 0 a nan\n"))
