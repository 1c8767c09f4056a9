"""Contract suite of text features: a number for each document that depends on query, document and statistics alone."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import PodiumError
from podium.testing.names import text_gives_it_back
from podium.text.context import Context
from podium.text.features import Feature
from podium.text.index.index import Index


def check_feature(feature: Feature) -> None:
    """Run every check of features."""
    for check in FEATURE_CHECKS.values():
        check(feature)


def numbers_are_finite_or_missing(feature: Feature) -> None:
    """A float64 number for each document, never infinite; missing is a matter of the document, not of the query."""
    index = _index()
    missing = None
    for context in _contexts(index):
        values = feature.values(context)
        assert values.shape == (len(context),), f"{values.shape} numbers for {len(context)} documents"
        assert values.dtype == np.float64, f"numbers are {values.dtype}"
        assert not np.isinf(values).any(), f"infinite for {context.query.text!r}"
        missing = np.isnan(values) if missing is None else missing
        assert np.array_equal(np.isnan(values), missing), f"other documents have no value for {context.query.text!r}"


def no_documents_are_no_trouble(feature: Feature) -> None:
    """No candidates, and an index of empty documents, give no error; an index without documents may be refused."""
    nobody = np.empty(0, np.int64)
    for index in (_index(), _index("blank"), _index("nothing")):
        for text in ("heat slabs", "the of", ""):
            numbers = index.numbers(["x1", "x2"]) if index is _index("blank") else nobody
            query = index.query(text, vector=_VECTOR)
            try:
                values = feature.values(Context(index, query, numbers, np.zeros(len(numbers))))
            except PodiumError:  # a stored field, say, that no document has may be refused
                assert not len(index)
                continue
            assert values.shape == (len(numbers),), f"{values.shape} numbers for {len(numbers)} documents"
            assert not np.isinf(values).any(), f"infinite for empty documents and {text!r}"


def order_of_candidates_does_not_matter(feature: Feature) -> None:
    """Candidates in another order have the same values."""
    index = _index()
    order = np.random.default_rng(1).permutation(len(index))
    for context in _contexts(index):
        assert context.first_scores is not None
        other = Context(index, context.query, context.numbers[order], context.first_scores[order])
        _same(feature.values(other), feature.values(context)[order], f"another order for {context.query.text!r}")


def other_candidates_do_not_matter(feature: Feature) -> None:
    """A document has the same value alone as among others, unless the feature says `of_candidates`."""
    if feature.of_candidates:
        return
    index = _index()
    for context in _contexts(index):
        assert context.first_scores is not None
        values = feature.values(context)
        for part in (slice(0, 1), slice(5, 9), slice(-1, None)):
            alone = Context(index, context.query, context.numbers[part], context.first_scores[part])
            _same(feature.values(alone), values[part], f"fewer candidates for {context.query.text!r}")


def features_of_the_query_are_constant(feature: Feature) -> None:
    """A feature that says `of_query` is the same for all documents."""
    for context in _contexts(_index()) if feature.of_query else ():
        assert np.ptp(feature.values(context)) == 0, f"not constant for {context.query.text!r}"


def batches_do_not_change_a_bit(feature: Feature) -> None:
    """Documents added one by one, or seven at a time, have the same values as all at once."""
    for batches in ("ones", "sevens"):
        for whole, batched in zip(_contexts(_index()), _contexts(_index(batches)), strict=True):
            got, expected = feature.values(batched), feature.values(whole)
            assert got.tobytes() == expected.tobytes(), f"added by {batches}: {got - expected} for {whole.query.text!r}"


def deleted_documents_leave_no_trace(feature: Feature) -> None:
    """After a document is deleted, values are those of an index that never had it, up to rounding."""
    for never, deleted in zip(_contexts(_index("never")), _contexts(_index("deleted")), strict=True):
        assert never.index.ids(never.numbers) == deleted.index.ids(deleted.numbers)
        _same(
            feature.values(deleted), feature.values(never), f"after deletion, for {never.query.text!r}", tolerance=1e-4
        )


def values_can_be_asked_for_again(feature: Feature) -> None:
    """The same context gives the same numbers twice."""
    for context in _contexts(_index()):
        first = feature.values(context).tobytes()
        assert feature.values(context).tobytes() == first, f"another value the second time for {context.query.text!r}"


FEATURE_CHECKS: dict[str, Callable[[Any], None]] = {
    check.__name__: check
    for check in (
        text_gives_it_back, numbers_are_finite_or_missing, no_documents_are_no_trouble,
        order_of_candidates_does_not_matter, other_candidates_do_not_matter, features_of_the_query_are_constant,
        batches_do_not_change_a_bit, deleted_documents_leave_no_trace, values_can_be_asked_for_again,
    )
}  # fmt: skip
"""Checks of every feature, by name: feature → None."""

_QUERIES = (
    "heat slabs",
    "onlyhere heat",
    "heat heat w3 unknown",
    "the of",
    "unknown",
    "",
    "the heat of the w1 w2",
    "w5",
)
_VECTOR = (1.0, -2.0, 0.5)
_GONE = ("x0", "d4", "d11", "d12", "d29")


def _documents() -> list[dict[str, Any]]:
    """Documents with repeats, empty fields, stop words, links to themselves and to missing documents."""
    rng = np.random.default_rng(0)
    words = ["heat", "slabs", "the", "of", *(f"w{k}" for k in range(12))]
    documents: list[dict[str, Any]] = [
        {"id": "x0", "title": "onlyhere", "text": "onlyhere heat w1", "links": ["d1"]},
        {"id": "x1", "title": "", "text": "", "year": 1900, "vector": [0, 0, 0]},
        {"id": "x2", "text": "the of the"},
        {"id": "x3", "title": "heat slabs", "text": "heat slabs", "links": ["x3", "nobody"]},
    ]
    for k in range(30):
        text = " ".join(rng.choice(words, rng.integers(1, 15)))
        links = [f"d{j}" for j in rng.integers(0, 30, rng.integers(0, 4))]
        more = {"year": 1990 + k, "url": f"http://a.example/{k % 5}/{k}"} if k % 3 else {}
        vector = rng.integers(-3, 4, 3).tolist()
        documents.append({"id": f"d{k}", "title": text[:10], "text": text, "links": links, "vector": vector, **more})
    return documents


@functools.cache
def _index(kind: str = "whole") -> Index:
    """A small index, kept until the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="podium-features-"))
    documents = _documents()
    if kind == "never":
        documents = [document for document in documents if document["id"] not in _GONE]
    elif kind == "blank":
        documents = [document for document in documents if document["id"] in ("x1", "x2")]
    elif kind == "nothing":
        documents = []
    size = {"ones": 1, "sevens": 7}.get(kind, len(documents) or 1)
    index = Index.create(folder / "index", (), fields=("title", "text"))
    for first in range(0, len(documents), size):
        index.add(documents[first : first + size])
    if kind == "deleted":
        index.delete(_GONE)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(index.close)
    return index


def _contexts(index: Index) -> Iterator[Context]:
    """Queries with all documents as candidates, with synthetic first-stage scores."""
    ids = [document["id"] for document in _documents()]
    numbers = index.numbers([id for id in ids if index.store.number(id) is not None])
    for query in _QUERIES:
        yield Context(index, index.query(query, vector=_VECTOR), numbers, np.linspace(3.0, 1.0, len(numbers)))


def _same(got: Array, expected: Array, what: str, *, tolerance: float = 1e-9) -> None:
    close = np.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    assert close, f"{what}: {got} instead of {expected}"
