import numpy as np
from query_ranks import QueryRanks

from podium.data import Dataset
from podium.testing import check_transform


def test_it_keeps_the_promises_of_a_transform():
    check_transform(QueryRanks())


def test_a_feature_becomes_the_share_of_documents_below_it():
    X = np.array([[7.0, 1.0], [-2.0, np.nan], [7.0, 0.0], [9.0, 5.0], [1e9, 2.0]], np.float32)
    data = Dataset.from_arrays(X, [0, 1, 0, 1, 0], group=[4, 1])
    expected = [[0.25, 1 / 3], [0.0, 0.0], [0.25, 0.0], [0.75, 2 / 3], [0.0, 0.0]]
    assert QueryRanks().features({}, data).tolist() == np.array(expected, np.float32).tolist()
