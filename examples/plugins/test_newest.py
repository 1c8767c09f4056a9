"""Newest, by the contracts of pickers and by hand."""

import numpy as np
from newest import Newest

from podium.data.dataset import Dataset
from podium.testing import check_picker


def test_it_keeps_the_promises_of_pickers() -> None:
    check_picker(Newest())


def test_the_last_documents_come_first() -> None:
    pool = Dataset.from_arrays([[3.0], [9.0], [np.nan], [5.0]], document_ids=list("abcd"), group=[4])
    assert set(Newest().pick(None, pool, queries=1, documents=2).pool.document_ids) == {"b", "d"}
