"""Sums of losses: values, derivatives, draws and what cannot be added."""

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.data.dataset import Dataset
from podium.losses import Loss

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])


def test_values_and_derivatives_add_up():
    parts = {"lambdarank": 1.0, "softmax": 0.1, "xe-ndcg(seed=3)": 2.0}
    got = Loss.parse(f"sum(of=[{','.join(parts)}],weights={[*parts.values()]})")(SCORES, LABELS)
    for field in ("value", "gradient", "curvature"):
        expected = np.sum([w * getattr(Loss.parse(part)(SCORES, LABELS), field) for part, w in parts.items()], axis=0)
        assert getattr(got, field) == pytest.approx(expected, rel=1e-12)


def test_the_part_that_draws_at_random_draws_anew():
    loss = Loss.parse("sum(of=[lambdarank,softmax,xe-ndcg])")
    constants = loss.kernel_constants(LABELS)
    np.testing.assert_array_equal(loss.resampled_constants(constants, 3), loss.resampled(3).kernel_constants(LABELS))
    assert str(loss.resampled(3)) == "sum(of=[lambdarank,softmax,xe-ndcg(seed=3)])"


def test_parts_are_fitted_to_the_training_data():
    data = Dataset.from_arrays(np.zeros((4, 1)), LABELS, group=[4]).grouped()
    assert str(Loss.parse("sum(of=[logistic,ranknet])").fitted_to(data)) == "sum(of=[logistic(highest=2.0),ranknet])"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sum(of=[pairties-d,softmax])", "pairties-d learns beta"),
        ("sum(of=[listmle,xe-ndcg])", "listmle and xe-ndcg draw at random. Keep one"),
        ("sum(of=[softmax],weights=[1,2])", "2 weights for 1 losses"),
        ("sum(of=[softmax],weights=[0])", "weights must be above 0"),
        ("sum(of=[])", "must be a list of losses"),
    ],
)
def test_what_cannot_be_added_is_refused(text, words):
    with pytest.raises(ParameterError, match=words):
        Loss.parse(text)
