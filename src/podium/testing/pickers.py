"""Contract suite of pickers: worth of at least 0, whatever the rows' order, and nothing that is judged."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.data.dataset import Dataset
from podium.model import Model
from podium.pickers import Picker
from podium.testing.examples import linear_data
from podium.testing.names import page_has_headings, text_gives_it_back
from podium.training import train


def check_picker(picker: Picker) -> None:
    """Run every check of pickers."""
    for check in PICKER_CHECKS.values():
        check(picker)


@functools.cache
def example() -> tuple[Model, Dataset]:
    """A bagged model, and a pool of which a third is judged, one query whole."""
    data = linear_data(8, 6)
    ids = np.array([f"d{row}" for row in range(data.n_documents)], dtype=object)
    names = np.array([f"q{q}" for q in range(data.n_queries)], dtype=object)
    assert data.labels is not None
    hidden = (np.arange(data.n_documents) % 3 > 0) & (data.query_index != 2)
    labels = np.where(hidden, np.nan, data.labels)
    pool = replace(data, labels=labels, document_ids=ids, query_ids=names)
    return train(data.select(range(4)), "bagged(of=regression,members=3)"), pool


def its_page_has_the_fixed_headings(picker: Picker) -> None:
    """Formula, ties, cost, use and reference, in this order."""
    page_has_headings(picker, ("Formula", "Ties", "Cost", "Use it for", "Reference"))


def worth_is_a_number_of_at_least_zero(picker: Picker) -> None:
    """Of each query and each document, the same with the same random numbers."""
    model, pool = example()
    for part in (pool, pool.select([]), replace(pool, labels=None)):
        queries, documents = picker.worth(model, part, np.random.default_rng(0))
        assert queries.shape == (part.n_queries,), f"{queries.shape} for {part.n_queries} queries"
        assert documents.shape == (part.n_documents,), f"{documents.shape} for {part.n_documents} documents"
        for worth in (queries, documents):
            assert (np.isfinite(worth) & (worth >= 0)).all(), f"worth is {worth}"
        again = picker.worth(model, part, np.random.default_rng(0))
        assert (again[0] == queries).all(), "the same seed gives another worth of queries"
        assert (again[1] == documents).all(), "the same seed gives another worth of documents"


def nothing_judged_is_proposed(picker: Picker) -> None:
    """Every document without a label is proposed once if all are asked for, and no other."""
    model, pool = example()
    assert pool.labels is not None
    assert pool.document_ids is not None
    picks = picker.pick(model, pool, queries=100, documents=100)
    left = pool.document_ids[np.isnan(pool.labels)]
    assert sorted(picks.pool.document_ids) == sorted(left), "other documents than those without a label"
    few = picker.pick(model, pool, queries=2, documents=3)
    assert set(few.pool.document_ids) <= set(left), "a judged document is proposed"
    assert len(few.pool.query_ids) == 2, f"{len(few.pool.query_ids)} queries for 2"
    assert ((few.chance > 0) & (few.chance <= 1)).all(), f"chances are {few.chance}"
    assert (picks.chance == 1).all(), "where all are taken, the chance is 1"


def the_order_of_rows_does_not_matter(picker: Picker) -> None:
    """If rows and queries move, the same documents are chosen, with the same chances."""
    model, pool = example()
    assert pool.labels is not None
    assert pool.document_ids is not None
    rng = np.random.default_rng(1)
    moved = pool.select(rng.permutation(pool.n_queries))
    rows = np.concatenate([rng.permutation(np.arange(a, b)) for a, b in itertools.pairwise(moved.offsets)])
    assert moved.labels is not None
    assert moved.document_ids is not None
    moved = replace(
        moved, features=moved.features[rows], labels=moved.labels[rows], document_ids=moved.document_ids[rows]
    )
    first, second = (picker.pick(model, part, queries=3, documents=2, seed=4) for part in (pool, moved))
    assert first.pool.document_ids == second.pool.document_ids, "other documents are chosen"
    assert first.pool.query_ids == second.pool.query_ids, "other queries are chosen"
    np.testing.assert_allclose(first.chance, second.chance)


PICKER_CHECKS: dict[str, Callable[[Picker], None]] = {
    check.__name__: check
    for check in (
        its_page_has_the_fixed_headings, text_gives_it_back, worth_is_a_number_of_at_least_zero,
        nothing_judged_is_proposed, the_order_of_rows_does_not_matter,
    )
}  # fmt: skip
