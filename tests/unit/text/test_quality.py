"""Quality features and trust: formulas on small documents."""

import math

import numpy as np
import pytest

from podium.base.errors import DataError, PodiumError
from podium.graph import trustrank
from podium.text.analyser import Analyser
from podium.text.context import Context
from podium.text.features import Feature
from podium.text.index.index import Index
from podium.text.stop_words import stop_words

PAGES = [
    {"id": "0", "text": "the heat of the slab", "links": ["1", "2", "out"]},
    {"id": "1", "text": "heat heat heat heat", "links": ["2"]},
    {"id": "2", "text": "", "links": ["0"]},
    {"id": "3", "text": "x", "links": ["2", "0", "a", "b"]},
]


@pytest.fixture
def index(tmp_path):
    index = Index.create(tmp_path / "i", PAGES, fields=["text"], analyser=Analyser(stem=False))
    yield index
    index.close()


def values(index, name):
    numbers = index.numbers([page["id"] for page in PAGES])
    return Feature.parse(name).values(Context(index, index.query("heat"), numbers)).tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stop_share", [3 / 5, 0, 0, 0]),
        ("stop_cover", [2 / len(stop_words("english")), 0, 0, 0]),
        ("entropy", [-(2 / 5) * math.log(2 / 5) - 3 * (1 / 5) * math.log(1 / 5), 0, 0, 0]),
        ("word_length", [(3 + 4 + 2 + 3 + 4) / 5, 4, 0, 1]),
        ("link_share", [3 / 5, 1 / 4, 0, 1]),
    ],
)
def test_quality_by_its_formula(index, name, expected):
    assert values(index, name) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert values(index, name) == values(index, name)


def test_an_analyser_without_stop_words_has_none(tmp_path):
    index = Index.create(tmp_path / "n", PAGES, fields=["text"], analyser=Analyser(language="none"))
    assert values(index, "stop_share") == values(index, "stop_cover") == [0, 0, 0, 0]
    index.close()


def test_trust_flows_from_the_seeds_and_is_missing_where_it_does_not_arrive(index, tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_bytes(b"\xef\xbb\xbf1\r\nnobody\r\n")
    expected = [*np.log(4 * np.array([0.326738, 0.288864, 0.384398])), np.nan]
    assert values(index, f"trustrank(seeds={seeds})") == pytest.approx(expected, abs=5e-6, nan_ok=True)


def test_flow_follows_the_preferences_of_a_file(index, tmp_path):
    pairs = tmp_path / "pairs.txt"
    pairs.write_bytes(b"\xef\xbb\xbf1 0\r\n# a comment\r\n1 nobody\r\n")
    expected = np.log(4 * np.array([0.301961, 0.301961, 0.359007, 0.037070]))
    assert values(index, f"max_entropy_flow(preferences={pairs},cost=10)") == pytest.approx(expected, abs=2e-5)
    pairs.write_text("1 nobody\n")
    with pytest.raises(DataError, match="none of the 1 preferences"):
        values(index, f"max_entropy_flow(preferences={pairs})")
    pairs.write_text("1 0 2\n")
    with pytest.raises(DataError, match="expected: better worse; got 3 columns"):
        values(index, f"max_entropy_flow(preferences={pairs})")


def test_seeds_that_are_missing_are_an_error(index, tmp_path):
    with pytest.raises(PodiumError, match=r"nothing\.txt"):
        values(index, f"trustrank(seeds={tmp_path / 'nothing.txt'})")
    (tmp_path / "other.txt").write_text("nobody\n")
    with pytest.raises(DataError, match="none of the 1 seeds"):
        values(index, f"trustrank(seeds={tmp_path / 'other.txt'})")


def test_walks_from_pages_without_links_begin_again_at_seeds():
    scores = trustrank([("a", "b"), ("spam", "b")], ["a"])
    assert scores["spam"] == 0
    assert scores["a"] == pytest.approx(1 / 1.85)  # p_b = .85 p_a, p_a + p_b = 1
