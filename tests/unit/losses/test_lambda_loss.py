"""LambdaLoss: the figures of other tools, and the schemes that coincide."""

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.losses import LambdaLoss, Loss

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])
DIGITS = {"abs": 1e-6, "rel": 0}


@pytest.mark.parametrize(
    ("loss", "value"),
    [
        ("lambda-loss", 0.381737),  # Rax 0.4, divided by its factor n
        ("lambda-loss(k=2)", 0.492929),  # Rax 0.4, topn=2
        ("lambda-loss(scheme=ndcg1)", 1.048682),  # allRank prints 1.600918, with pairs i = i: + NDCG·ln 2
        ("lambda-loss(scheme=ndcg2++)", 4.164335),
        ("lambda-loss(scheme=arp1)", 3.995680),
        ("lambda-loss(scheme=arp2)", 2.369156),
    ],
)
def test_the_values_are_those_of_other_tools(loss, value):
    assert Loss.parse(loss)(SCORES, LABELS).value == pytest.approx(value, **DIGITS)


def test_the_gradient_is_that_of_other_tools():
    assert LambdaLoss()(SCORES, LABELS).gradient == pytest.approx([0.013801, 0.086309, 0.143415, -0.243525], **DIGITS)


@pytest.mark.parametrize(
    ("loss", "other"),
    [
        ("lambda-loss(scheme=ndcg2++,mu=0)", "lambdarank(metric=ndcg)"),
        ("lambda-loss(scheme=ndcg2++,mu=0,k=2,sigma=1.5)", "lambdarank(metric=ndcg@2,sigma=1.5)"),
        ("lambda-loss(scheme=ndcg2,k=4)", "lambda-loss(scheme=ndcg2)"),
        ("lambda-loss(scheme=ndcg1,k=4)", "lambda-loss(scheme=ndcg1)"),
        ("lambda-loss(scheme=label-diff)", "lambda-loss(scheme=arp2)"),
    ],
)
def test_schemes_coincide(loss, other):
    here, there = Loss.parse(loss)(SCORES, LABELS), Loss.parse(other)(SCORES, LABELS)
    assert here.value == pytest.approx(there.value, rel=1e-12)
    assert here.gradient == pytest.approx(there.gradient, rel=1e-12)
    assert here.curvature == pytest.approx(there.curvature, rel=1e-12)


def test_a_cutoff_without_ranks_is_refused():
    with pytest.raises(ParameterError, match="scheme=arp2 looks at no ranks; leave out k=3"):
        LambdaLoss(scheme="arp2", k=3)


@pytest.mark.parametrize("scheme", ["ndcg2", "arp1", "label-diff2"])
def test_negative_labels_are_refused(scheme):
    with pytest.raises(DataError, match=r"labels of at least 0.*got -1"):
        LambdaLoss(scheme=scheme)(SCORES, [0, 1, -1, 2])
