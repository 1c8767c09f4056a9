"""neighbours: against a slow, obvious version; what is fitted, refused and read from disk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError
from podium.base.matrix_on_disk import Rows
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.export import Target
from podium.formats import read_data, write_letor
from podium.transforms import Identity, Neighbours, ZScore
from podium.transforms.base import Transformed


def linked(seed: int = 0) -> Dataset:
    """Three queries, one of a single document; links with weights, one of them from a document to itself."""
    rng = np.random.default_rng(seed)
    sizes, rows = [6, 1, 8], []
    for n in sizes:
        pairs = {(int(a), int(b)) for a, b in rng.integers(0, n, (2 * n, 2))} | {(0, 0)}
        rows.append([[a, b, float(rng.uniform(0, 2))] for a, b in sorted(pairs) if a < n - 1])
    X = rng.standard_normal((15, 3)).astype(np.float32)
    data = Dataset.from_arrays(X, rng.integers(0, 3, 15), group=sizes).grouped()
    return replace(data, relations=Triples.from_rows(rows))


def slow(X: np.ndarray, S: np.ndarray, hops: int) -> np.ndarray:
    """The formula, a document at a time; S has the links of all queries."""
    parts = [X]
    for _ in range(hops):
        before, mean = parts[-1], np.empty_like(X)
        for i in range(len(X)):
            total = sum(S[i])
            mean[i] = sum(S[i, j] * before[j] for j in range(len(X))) / total if total else before[i]
        parts.append(mean)
    degree = S.sum(axis=1)
    return np.column_stack([*parts, (degree - degree.mean()) / degree.std()])


def links_of(data: Dataset, *, symmetric: bool) -> np.ndarray:
    assert data.relations is not None
    S = np.zeros((data.n_documents, data.n_documents))
    for q in range(data.n_queries):
        for a, b, value in data.relations.of(q):
            if a != b:
                S[int(a + data.offsets[q]), int(b + data.offsets[q])] = value
    return np.maximum(S, S.T) if symmetric else S


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("symmetric", [False, True])
def test_means_over_links_are_those_of_the_formula(hops: int, symmetric: bool) -> None:
    data, transform = linked(), Neighbours(of=Identity(), hops=hops, symmetric=symmetric)
    expected = slow(data.features.astype(np.float64), links_of(data, symmetric=symmetric), hops)
    np.testing.assert_allclose(transform.features(transform.fit(data), data), expected, atol=1e-6)


def test_without_a_file_the_nearest_documents_of_the_query_are_linked() -> None:
    data, transform = replace(linked(), relations=None), Neighbours(of=Identity(), nearest=2)
    S = np.zeros((15, 15))
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        X = data.features[a:b].astype(np.float64)
        Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-30) if b - a > 1 else 0 * X
        for i in range(b - a):
            cosine = {j: Z[i] @ Z[j] / np.linalg.norm(Z[i]) / np.linalg.norm(Z[j]) for j in range(b - a) if j != i}
            for j in sorted(cosine, key=cosine.get, reverse=True)[:2]:
                S[a + i, a + j] = max(cosine[j], S[a + i, a + j], 0.0)
                S[a + j, a + i] = S[a + i, a + j]
    expected = slow(data.features.astype(np.float64), S, 1)
    np.testing.assert_allclose(transform.features(transform.fit(data), data), expected, atol=1e-5)


def test_it_is_on_top_of_another_transform() -> None:
    data, transform = linked(), Neighbours()
    below = ZScore().apply(ZScore().fit(data), data)
    plain = Neighbours(of=Identity())
    got = transform.features(transform.fit(data), data)
    np.testing.assert_allclose(got, plain.features(plain.fit(below), below), atol=1e-6)


def test_data_without_the_links_that_training_had_is_refused_with_the_name_of_the_file() -> None:
    data = linked()
    model = podium.train(data, "ranknet(transform=neighbours)")
    with pytest.raises(IncompatibleError, match=r"neighbours needs the links.*<data>\.relations"):
        model.score(replace(data, relations=None))
    with pytest.raises(IncompatibleError, match=r"<data>\.relations"):
        podium.train(replace(data, relations=None), "ranknet(transform=neighbours(relation=file))")


def test_a_link_below_zero_is_refused() -> None:
    data = linked()
    assert data.relations is not None
    values = data.relations.values.copy()
    values[3, 2] = -1
    with pytest.raises(DataError, match="has the value -1, but neighbours weighs"):
        Neighbours().fit(replace(data, relations=Triples(values, data.relations.offsets)))


def test_links_are_read_from_the_file_next_to_the_data(tmp_path) -> None:
    data, transform = linked(), Neighbours(of=Identity())
    write_letor(data, tmp_path / "data.txt")
    read, state = read_data(tmp_path / "data.txt").grouped(), transform.fit(data)
    np.testing.assert_allclose(transform.features(state, read), transform.features(state, data), atol=1e-5)


def test_documents_in_another_order_have_the_same_features() -> None:
    data, transform = linked(), Neighbours(of=Identity())
    rng = np.random.default_rng(0)
    order = np.concatenate(
        [a + rng.permutation(b - a) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    )
    back = np.argsort(order)
    assert data.relations is not None
    start = np.repeat(data.offsets[:-1], np.diff(data.relations.offsets))
    values = data.relations.values.copy()
    for column in (0, 1):
        values[:, column] = back[values[:, column].astype(int) + start] - start
    moved = replace(data.with_features(data.features[order], None), relations=Triples(values, data.relations.offsets))
    state = transform.fit(data)
    np.testing.assert_allclose(transform.features(state, moved)[back], transform.features(state, data), atol=1e-6)


def test_rows_on_disk_have_the_same_features() -> None:
    data, transform = linked(), Neighbours(of=Identity())
    state, blocks = (
        transform.fit(data),
        Transformed(transform, transform.fit(data), data.with_features(Kept(data), None)),
    )
    for first, last in ((0, 15), (3, 9), (7, 15)):
        np.testing.assert_array_equal(blocks.read(first, last), transform.features(state, data)[first:last])


class Kept(Rows):
    """Rows that are read a few at a time."""

    def __init__(self, data: Dataset) -> None:
        super().__init__(data.features.shape)
        self.of = data.features

    def read(self, first: int, last: int) -> np.ndarray:
        return self.of[first:last]


@pytest.mark.parametrize("target", ["solr", "onnx"])
def test_no_engine_takes_features_of_neighbours_and_export_says_so(target: str) -> None:
    model = podium.train(linked(), "regression(transform=neighbours)")
    with pytest.raises(IncompatibleError, match=r"neighbours.*Train with transform=zscore"):
        Target.parse(target).accept(model)
