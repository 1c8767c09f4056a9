"""Newcomers, by the contracts of re-rankers and by hand."""

import numpy as np
from newcomers import Newcomers

from podium.rerankers import QueryView
from podium.testing import check_reranker


def test_it_keeps_the_promises_of_rerankers() -> None:
    check_reranker(Newcomers())


def test_every_third_rank_comes_from_the_second_half() -> None:
    view = QueryView(np.zeros((6, 1)), None, None)
    assert Newcomers().order([6.0, 5.0, 4.0, 3.0, 2.0, 1.0], view).tolist() == [0, 1, 3, 2, 4, 5]
