"""The contract of learners, for those that depend on the query; queries are described by their documents."""

import pytest

from podium.learner import Learner
from podium.testing import LEARNER_CHECKS
from podium.testing.learners import it_learns

TEXTS = [
    "nested(of=listnet,keep=[0.6])",
    "per-class(of=listnet,by=cluster(2),queries=[query-profile])",
    "nearest(of=listnet,k=10,queries=[query-profile])",
    "nearest(of=listnet,k=10,when=online,queries=[query-profile])",
]
SLOW = ("one_seed_gives_one_file_on_any_number_of_threads", "memory_is_counted_before_work_starts")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "check", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in LEARNER_CHECKS]
)
def test_they_keep_the_promises_of_learners(check, text):
    LEARNER_CHECKS[check](Learner.parse(text))


@pytest.mark.parametrize("text", TEXTS)
def test_they_learn(text):
    it_learns(Learner.parse(text), 0.9)
