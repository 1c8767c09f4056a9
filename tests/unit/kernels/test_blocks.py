"""Orders by grade against numpy's sorts."""

import numpy as np
import pytest

from podium.kernels.blocks import by_grade, by_grade_and_score

LABELS = {
    "few grades": lambda rng, n: rng.integers(0, 5, n),
    "many grades": lambda rng, n: rng.integers(0, 90, n),
    "negative grades": lambda rng, n: rng.integers(-3, 3, n),
    "halves": lambda rng, n: rng.integers(0, 9, n) / 2.0,
    "huge grades": lambda rng, n: rng.integers(0, 3, n) * 1e300,
}


@pytest.mark.parametrize("kind", LABELS)
def test_documents_are_in_order_of_grade_and_then_of_score(kind):
    rng = np.random.default_rng(0)
    for n in [0, 1, 2, *rng.integers(3, 60, 100)]:
        labels, scores = LABELS[kind](rng, n).astype(float), rng.normal(size=n).round(1)
        order, ends = by_grade(labels)
        assert (order == np.argsort(-labels, kind="stable")).all()
        assert ends.tolist() == [(labels >= labels[i]).sum() for i in order]
        order, ends = by_grade_and_score(scores, labels)
        assert (order == np.lexsort((-scores, -labels))).all()
        assert ends.tolist() == [(labels >= labels[i]).sum() for i in order]
