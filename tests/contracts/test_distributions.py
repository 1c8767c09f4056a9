"""What every distribution over rankings promises, run over the registry."""

import numpy as np
import pytest

from lanes import few
from podium.distributions import RankingDistribution
from podium.testing import DISTRIBUTION_CHECKS, all_rankings, check_distribution, draw_query, instances
from podium.testing.distributions import equals_definition
from podium.testing.examples import size
from reference.distributions import PROBABILITIES

DISTRIBUTIONS = [value for cls in RankingDistribution.catalogue().values() for value in instances(cls)]
SIZES = ((1, 1), (2, 3), (4, 4), (5, 1.5))[: size(4, 3)]
EXAMPLES = [draw_query(np.random.default_rng(n), n, scale=scale)[0] for n, scale in SIZES]


@pytest.mark.parametrize("distribution", few(DISTRIBUTIONS, ("plackett-luce", "mallows", "davidson")), ids=repr)
@pytest.mark.parametrize("check", DISTRIBUTION_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_distribution_keeps_its_promises(check, distribution):
    for scores in EXAMPLES:
        check(distribution, scores)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_probabilities_follow_the_definition(distribution):
    name = distribution.name
    assert name in PROBABILITIES, f"tests/reference/distributions.py lacks the definition of {name}: add it"
    for scores in EXAMPLES[:3]:
        equals_definition(distribution, scores, PROBABILITIES[name])


@pytest.mark.parametrize(("ties", "numbers"), [(False, [1, 2, 6, 24, 120]), (True, [1, 3, 13, 75, 541])])
def test_all_rankings_are_listed(ties, numbers):
    assert [len(all_rankings(n, ties=ties)) for n in range(1, 6)] == numbers


def test_check_distribution_runs_every_check():
    plackett_luce = RankingDistribution.parse("plackett-luce")
    check_distribution(plackett_luce, reference=PROBABILITIES["plackett-luce"])
    with pytest.raises(AssertionError, match="by definition"):
        check_distribution(plackett_luce, reference=lambda *_: 0.5, examples=1)
