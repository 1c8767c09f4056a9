"""Datasets in shared memory: everything that learning sees comes back, and writing reaches nobody else."""

from __future__ import annotations

import tempfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from podium.comparison.sharing import open_shared, share
from podium.data import Dataset, Fold, make_letor_like, split

TRAIN, VALI, TEST = split(make_letor_like(20, (3, 6), n_features=4, seed=1)[0])
WEIGHTED = replace(TRAIN, query_weights=np.linspace(0.5, 2.0, TRAIN.n_queries), feature_names=("a", "b", "ç", "d"))
PREFERENCES = Dataset.from_arrays(
    TRAIN.features, group=TRAIN.sizes, preferences=([0, 1], [2, 2], [1.0, 0.7]), document_ids=TRAIN.document_ids
)
APART = Dataset.from_arrays([[1.0], [2.0], [3.0]], [1, 0, 2], qid=["b", "ä", "b"])
NOTHING = Dataset.from_arrays(np.empty((0, 3), np.float32), [])


@pytest.mark.parametrize(
    "data",
    [TRAIN, WEIGHTED, PREFERENCES, APART, NOTHING, replace(TRAIN, features=sp.csr_array(TRAIN.features))],
    ids=["plain", "weights and names", "preferences", "rows apart", "nothing", "sparse"],
)
def test_a_fold_comes_back_as_it_was(data: Dataset) -> None:
    with tempfile.TemporaryFile() as file:
        fold = open_shared(file.fileno(), share(Fold(data, None, TEST, "one"), file))
        assert (fold.name, fold.valid) == ("one", None)
        assert fold.test is not None
        for mine, theirs in ((fold.train, data.grouped()), (fold.test, TEST)):
            assert mine.digest() == theirs.digest()
            assert mine.features.dtype == theirs.features.dtype
            assert (mine.source, mine.feature_names) == (theirs.source, theirs.feature_names)
            for q in range(theirs.n_queries):
                assert mine.query_name(q) == theirs.query_name(q)
            for row in range(theirs.n_documents):
                assert mine.document_name(row) == theirs.document_name(row)


def test_arrays_can_be_written_and_nobody_else_sees_it() -> None:
    with tempfile.TemporaryFile() as file:
        about = share(Fold(TRAIN, VALI, TEST, "one"), file)
        mine, theirs = (open_shared(file.fileno(), about) for _ in range(2))
        np.asarray(mine.train.features)[0, 0] = 77.0
        np.testing.assert_array_equal(theirs.train.features, TRAIN.features)
