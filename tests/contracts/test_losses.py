"""What every loss promises, run over the registry. Nothing here is edited to add a loss but its slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanes import few
from podium.losses import Loss
from podium.testing import LOSS_CHECKS, equals_reference, general_position, instances
from podium.testing.examples import size
from podium.testing.names import text_gives_it_back
from reference.losses import REFERENCES

MORE = [
    "regression(target=gain-share)", "softmax(target=gain-share)",
    "energy-ndcg(energy=rank)", "energy-ndcg(energy=rank,window=2,samples=3)",
    "lambdarank(metric=map)", "lambdarank(metric=err@3)", "lambdarank(distance=true)",
    "lambdarank(by_grade=0.5,damped=true)", "lambdarank(by_grade=1,metric=ndcg@2,distance=true)",
    "lambdarank(by_grade=0.3,metric=map)", "lambdarank(by_grade=0.5,pairs=2,metric=ndcg@2,distance=true)",
    "lambda-loss(scheme=ndcg2++,k=2)", "lambda-loss(scheme=arp1,normalise=true)",
    "sum(of=[ranknet,listmle,logistic],weights=[1,0.5,2])", "softmax(anchor=1)", "neural-ndcg(scale=0)",
    "apprank(measure=mrr)", "apprank(measure=p,k=2)", "apprank(measure=err)", "apprank(noise=gumbel,samples=2)",
    "listnet(noise=gumbel,samples=2,beta=0.5)", "lambdarank(pairs=2)",
    "lambdarank(pairs=1,damped=true,distance=true,sigma=2,normalise=true)",
    "pl-rank(metric=ndcg@2,samples=2)", "yeti-rank(metric=ndcg@3,neighbours=2,samples=3)",
    "structrank(normalise=true,log_w1=0.5,log_w2=-0.3)", "structrank(topology=random,partners=2,log_w2=0.4)",
    "structrank(topology=plackett-luce,normalise=true,log_w1=0.4,functions=2)",
    "structrank(functions=3,log_w1=0.2)", "structrank(functions=2,more=[0.5,-0.4],normalise=true)",
    "structrank(topology=random,functions=2,normalise=true)", "structrank(function=gaussian,log_w1=0.3)",
    "structrank(function=gaussian,correlation=0.8,topology=random,partners=2)",
    "structrank(function=gaussian,topology=disconnected)",
]  # fmt: skip
CASES = [loss for cls in Loss.catalogue().values() for loss in instances(cls)] + list(map(Loss.parse, MORE))
QUICK = ("ranknet", "lambdarank", "listnet", "softmax", "regression")


@st.composite
def queries(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """(scores, labels) of one query: scores in general position, grades with ties, some not whole."""
    n = draw(st.integers(1, 8))
    places = draw(st.permutations(range(n)))
    jitter = draw(st.lists(st.floats(-1, 1, width=16), min_size=n, max_size=n))
    grades = st.sampled_from([0.0, 1.0, 2.0, 3.0, 1.5])
    labels = draw(st.lists(grades, min_size=n, max_size=n))
    return general_position(places, jitter), np.array(labels)


CHECKS = list(LOSS_CHECKS.values())
HALF = len(CHECKS) // 2  # hypothesis nests the settings of all cases of a test: a thousand would end Python's stack


@pytest.mark.parametrize("loss", few(CASES, QUICK), ids=repr)
@pytest.mark.parametrize("check", CHECKS[:HALF], ids=lambda check: check.__name__)
@settings(max_examples=size(12, 4), deadline=None)
@given(query=queries())
def test_every_loss_keeps_its_promises(check, loss, query):
    check(loss, *query)


@pytest.mark.parametrize("loss", few(CASES, QUICK), ids=repr)
@pytest.mark.parametrize("check", CHECKS[HALF:], ids=lambda check: check.__name__)
@settings(max_examples=size(12, 4), deadline=None)
@given(query=queries())
def test_every_loss_keeps_its_other_promises(check, loss, query):
    check(loss, *query)


@pytest.mark.parametrize("loss", few(CASES, QUICK), ids=repr)
@settings(max_examples=size(25, 4), deadline=None)
@given(query=queries())
def test_value_equals_brute_force(loss, query):
    assert loss.name in REFERENCES, (
        f"tests/reference/losses.py lacks the slow value of {loss.name}: add a function there"
    )
    equals_reference(loss, *query, REFERENCES[loss.name])


@pytest.mark.parametrize("loss", CASES, ids=repr)
def test_its_text_gives_it_back(loss):
    text_gives_it_back(loss)
