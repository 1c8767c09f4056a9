"""The file of propensities: what is written is read, and what cannot be one is refused with the reason."""

import io
import json

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.clicks.propensity_file import Propensities, read_propensities


def test_what_is_written_is_read(tmp_path):
    made = Propensities(
        [1, 2, 5], [1.0, 0.5, 0.2], [1.0, 0.4, np.nan], [1.0, 0.6, np.nan], [0.8, 0.4, 0.1], [0.1, 0.1, 0.05], "trust"
    )
    made.write(tmp_path / "theta.json")
    again = read_propensities(tmp_path / "theta.json")
    for name in ("ranks", "theta", "low", "high", "alpha", "beta"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name))
    assert (again.how, again.has_trust_bias) == ("trust", True)
    assert [path.name for path in tmp_path.iterdir()] == ["theta.json"]


def test_ranks_and_theta_are_enough():
    made = read_propensities(io.BytesIO(b'{"ranks": [1, 3], "theta": [1, 0.5]}'))
    alpha, beta = made.at([1, 2, 3, 9])
    np.testing.assert_array_equal(alpha, [1.0, np.nan, 0.5, np.nan])
    np.testing.assert_array_equal(beta, [0.0, np.nan, 0.0, np.nan])
    assert not made.has_trust_bias


def test_propensities_cannot_be_changed():
    theta = np.array([1.0, 0.5])
    made = Propensities.of_theta(theta, how="given")
    theta[0] = 7.0
    assert made.theta[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        made.theta[0] = 2.0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "a JSON object with at least ranks and theta"),
        ('{"ranks": [1]}', "a JSON object with at least ranks and theta"),
        ('{"ranks": [1], "theta": [1], "thetta": [1]}', "no field 'thetta'"),
        ('{"ranks": [1], "theta": [NaN]}', "NaN is no number"),
        ('{"ranks": [1], "theta": [1e999]}', "theta must be a list of 1 numbers"),
        ('{"ranks": [1], "theta": ["1"]}', "theta must be a list of 1 numbers"),
        ('{"ranks": [1], "theta": [true]}', "theta must be a list of 1 numbers"),
        ('{"ranks": [1, 2], "theta": [1]}', "theta must be a list of 2 numbers"),
        ('{"ranks": [1], "theta": [-1]}', "theta of rank 1 must be a number of at least 0"),
        ('{"ranks": [1], "theta": [0]}', "alpha is 0 at every rank"),
        ('{"ranks": [2, 1], "theta": [1, 1]}', "ranks must rise"),
        ('{"ranks": [1, 1], "theta": [1, 1]}', "ranks must rise"),
        ('{"ranks": [], "theta": []}', "there are no ranks"),
        ('{"ranks": [1.5], "theta": [1]}', "ranks must be a list of whole numbers from 1"),
        ('{"ranks": [100000000000000000000], "theta": [1]}', "ranks must be a list of whole numbers from 1"),
        ('{"ranks": [1], "theta": [1], "low": [2], "high": [3]}', "outside its interval, 2 to 3"),
        ('{"ranks": [1], "theta": [1], "how": 3}', "how must be text"),
    ],
)
def test_what_is_no_file_of_propensities_is_refused(tmp_path, content, words):
    path = tmp_path / "theta.json"
    path.write_text(content)
    with pytest.raises(DataError, match=words) as error:
        read_propensities(path)
    assert str(error.value).startswith(str(path))


def test_a_file_for_people_has_a_line_for_each_field(tmp_path):
    Propensities.of_theta([1.0, 0.5], how="given").write(tmp_path / "theta.json")
    text = (tmp_path / "theta.json").read_text()
    assert text.splitlines()[3] == ' "theta": [1.0, 0.5],'
    assert json.loads(text)["low"] == [None, None]
