import io

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.formats.movielens import read_movielens

LINES = b"196\t242\t3\t881250949\n186\t302\t3.5\t891717742\r\n\n196\t302\t1\t881250950\n"


def read(data):
    return read_movielens(io.BytesIO(data))


def test_a_line_is_a_rating():
    found = read(LINES)
    assert len(found) == 3
    assert found.users[found.user].tolist() == ["196", "186", "196"]
    assert found.items[found.item].tolist() == ["242", "302", "302"]
    assert found.rating.tolist() == [3.0, 3.5, 1.0]
    assert found.time.tolist() == [881250949, 891717742, 881250950]


def test_the_matrix_has_no_number_where_there_is_no_rating():
    np.testing.assert_array_equal(read(LINES).matrix(), np.array([[3.0, 1.0], [np.nan, 3.5]], np.float32))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1\t2\t3", "expected user, item, rating and time with tabs between; got 3 of these 4 parts"),
        ("1::2::3::4", "got 1 of these 4 parts"),
        ("\t2\t3\t4", "expected user, item"),
        ("1\t2\tgood\t4", "expected a rating, a finite number; got 'good'"),
        ("1\t2\tinf\t4", "expected a rating, a finite number; got 'inf'"),
        ("1\t2\t3\tnow", "expected a time in whole seconds; got 'now'"),
        ("1\t2\t3\t-4", "expected a time in whole seconds; got '-4'"),
        ("196\t242\t5\t4", "user 196 has rated item 242 before"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, says):
    path = tmp_path / "u.data"
    path.write_bytes(LINES + line.encode() + b"\n")
    with pytest.raises(DataError, match=f"u.data:5: .*{says}"):
        read_movielens(path)


def test_an_empty_file_is_refused():
    with pytest.raises(DataError, match="no ratings: the file is empty"):
        read(b"\n")
