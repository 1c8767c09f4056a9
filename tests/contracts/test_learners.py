"""What every learner promises, run over the methods."""

import pytest

from lanes import few
from podium.methods import METHODS, method
from podium.testing import LEARNER_CHECKS
from podium.testing.learners import (
    hopeless_data_is_refused,
    it_learns,
    row_order_does_not_matter,
    unusual_data_is_learned_from_or_refused,
)
from podium.testing.refusals import refused
from podium.testing.unusual_data import HOPELESS, UNUSUAL, USABLE, a_million_documents, one_grade
from podium.training import train

QUICK = ("listnet", "ranking-svm", "prank", "lambdamart")
ALL = pytest.mark.parametrize("name", few(METHODS, QUICK))
LEARNING = pytest.mark.parametrize("name", few([name for name in METHODS if name != "random"], QUICK))

LESS = {
    "single-feature": 0.55,  # of four that matter
    "mcrank": 0.88, "mcrank-ordinal": 0.88, "rankboost": 0.87, "gbrank": 0.9,  # steps instead of a line
    "random-forest": 0.7, "lambdaloss-trees": 0.95, "yetirank": 0.92, "xe-ndcg-mart": 0.92,
    "lambdamart": 0.82, "lambdamart-map": 0.78, "lambdamart-err": 0.82, "lambdamart-mrr": 0.76,
    "adarank-map": 0.9, "adarank-ndcg": 0.9, "structrank": 0.9, "ranking-svm-kernel": 0.94, "pmop-fd": 0.94,
}  # fmt: skip
"""The share of the way from chance to the truth, for methods that in 20 iterations go less than 0.98 of it."""


@ALL
@pytest.mark.parametrize("check", LEARNER_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_learner_keeps_its_promises(check, name):
    check(METHODS[name].learner)


@LEARNING
def test_it_comes_near_the_planted_truth_on_new_queries(name):
    it_learns(METHODS[name].learner, LESS.get(name, 0.98))


@LEARNING
def test_the_order_of_queries_and_documents_does_not_matter(name):
    row_order_does_not_matter(METHODS[name].learner)


@ALL
@pytest.mark.parametrize("make", USABLE)
def test_what_other_benchmarks_look_like_is_learned_from(name, make):
    unusual_data_is_learned_from_or_refused(METHODS[name].learner, make, must_learn=True)


@ALL
@pytest.mark.parametrize("make", UNUSUAL)
def test_unusual_data_is_learned_from_or_refused_with_a_clear_error(name, make):
    unusual_data_is_learned_from_or_refused(METHODS[name].learner, make)


@LEARNING
@pytest.mark.parametrize("make", HOPELESS)
def test_data_without_an_answer_is_refused_before_work_starts(name, make):
    hopeless_data_is_refused(METHODS[name].learner, make)


@pytest.mark.parametrize(
    "text", ["ranking-svm-kernel(components=none)", "structrank", "ranknet(scorer=nadaraya-watson)"]
)
def test_a_kernel_on_a_million_documents_is_refused_with_the_memory_it_needs_and_what_to_use(text):
    refused(lambda: train(a_million_documents(), method(text)), says=r"\d GB.* Use ", when="a million documents")


def test_a_learner_that_learns_nothing_is_noticed():
    with pytest.raises(AssertionError, match="of the way from chance to the truth"):
        it_learns(METHODS["random"].learner)
    with pytest.raises(AssertionError, match="nothing was refused"):
        hopeless_data_is_refused(METHODS["random"].learner, one_grade)
