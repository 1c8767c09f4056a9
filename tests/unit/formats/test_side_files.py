"""Topics, relations and features of queries, next to a data file."""

import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.comparison.sharing import open_shared, share
from podium.data.fold import Fold
from podium.formats.query_features_file import category_number

DATA = """2 qid:a 1:1 #docid = x
0 qid:b 1:2 #docid = u
1 qid:a 1:3 #docid = y
0 qid:b 1:4 #docid = v
"""
SIDES = {
    ".topics": "a shoes x 1\na boots x 2\na boots y 1\nb 7 v 1\n",
    ".relations": "a,x,y,0.5,2\nb,u,v,1,-1\nb,v,u,3,4\n",
    ".queries": "query\tlength\tmarket\nb\t3\tde\nc\t9\tfr\na\t2\tuk\n",
}


@pytest.fixture
def data(tmp_path):
    (tmp_path / "d.txt").write_text(DATA)
    for ending, text in SIDES.items():
        (tmp_path / f"d.txt{ending}").write_text(text)
    return podium.read_data(tmp_path / "d.txt")


def same(one, other):
    for field in ("topics", "relations"):
        np.testing.assert_array_equal(getattr(one, field).values, getattr(other, field).values)
        np.testing.assert_array_equal(getattr(one, field).offsets, getattr(other, field).offsets)
    np.testing.assert_array_equal(one.query_features, other.query_features)
    assert one.query_feature_names == other.query_feature_names


def test_side_files_are_read_with_the_data(data):
    assert data.topics.of(0).tolist() == [[0, 0, 1], [0, 1, 2], [1, 1, 1]]  # shoes is topic 0 of query a, boots 1
    assert data.topics.matrix(0, 2).tolist() == [[1, 2], [0, 1]]
    assert data.topics.of(1).tolist() == [[1, 0, 1]]
    assert data.relations.of(1).tolist() == [[0, 1, 1, -1], [1, 0, 3, 4]]
    de, uk = category_number("de"), category_number("uk")
    assert data.query_features.tolist() == [[2, uk], [3, de]]  # c is not in the data
    assert 2**52 <= min(de, uk) < max(de, uk) < 2**53
    assert data.query_feature_names == ("length", "market")


def test_they_follow_their_queries(data):
    turned = data.grouped().select([1, 0])
    assert turned.topics.of(0).tolist() == data.topics.of(1).tolist()
    assert turned.relations.of(1).tolist() == data.relations.of(0).tolist()
    assert turned.query_features.tolist() == data.query_features[::-1].tolist()


def test_a_category_has_the_same_number_in_every_file(tmp_path):
    """Numbered within each file, uk would be 1 next to de, and 2 next to de and fr."""
    markets = {"train": {"a": "de", "b": "uk"}, "test": {"a": "uk", "b": "fr"}, "odd": {"a": "7", "b": "nan"}}
    read = {}
    for name, of in markets.items():
        (tmp_path / name).write_text(DATA)
        (tmp_path / f"{name}.queries").write_text("query market\n" + "".join(f"{q} {m}\n" for q, m in of.items()))
        read[name] = podium.read_data(tmp_path / name).query_features[:, 0]
    assert read["train"][1] == read["test"][0]
    assert len({*read["train"], *read["test"]}) == 3
    assert read["odd"].tolist() == [7.0, category_number("nan")]


def test_they_are_written_cached_and_shared(data, tmp_path):
    podium.write_letor(data, tmp_path / "again.txt")
    same(podium.read_data(tmp_path / "again.txt"), data)
    podium.write_cache(data, tmp_path / "cache.pod")
    same(podium.read_data(tmp_path / "cache.pod"), data)
    with open(tmp_path / "shared", "w+b") as file:
        about = share(Fold(data.grouped(), None, None, "f"), file)
        same(open_shared(file.fileno(), about).train, data.grouped())


def test_each_of_them_is_in_the_digest(data):
    from dataclasses import replace

    grouped = data.grouped()
    names = ("topics", "relations", "query_features")
    digests = {grouped.digest(), *(replace(grouped, **{name: None}).digest() for name in names)}
    assert len(digests) == 4
    swapped = replace(grouped, topics=grouped.relations, relations=grouped.topics)
    assert swapped.digest() not in digests


@pytest.mark.parametrize(
    ("ending", "text", "message"),
    [
        (".topics", "a t x\n", "d.txt.topics:1: expected: query topic document grade; got 3 columns."),
        (".topics", "a t z 1\n", "query 'a' has no document 'z'"),
        (".topics", "a t x 1\na t x 2\n", "d.txt.topics:2: document 'x' stands twice for topic 't'."),
        (".topics", "a t x nan\n", "the grade must be a number; got 'nan'"),
        (".relations", "a x y 1\na y x\n", "d.txt.relations:2: expected: 4 columns, as on the first line; got 3"),
        (".relations", "a x y\na x y\n", "the link from 'x' to 'y' stands twice."),
        (".relations", "q x y\n", "no query 'q'"),
        (".queries", "query length\na 1\n", "no line about query 'b'"),
        (".queries", "query length\na 1\na 2\nb 1\n", "d.txt.queries:3: query 'a' stands twice."),
        (".queries", "query n n\n", "d.txt.queries:1: the first line must name the columns, each once"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, ending, text, message):
    (tmp_path / "d.txt").write_text(DATA)
    (tmp_path / f"d.txt{ending}").write_text(text)
    with pytest.raises(DataError) as error:
        podium.read_data(tmp_path / "d.txt")
    assert message in str(error.value)


def test_links_without_a_value_count_one(tmp_path):
    (tmp_path / "d.txt").write_text(DATA)
    (tmp_path / "d.txt.relations").write_text("a x y\n")
    assert podium.read_data(tmp_path / "d.txt").relations.of(0).tolist() == [[0, 1, 1]]
