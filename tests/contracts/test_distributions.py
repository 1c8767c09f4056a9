"""What every distribution over rankings promises, run over the registry."""

from __future__ import annotations

import numpy as np
import pytest

from podium.distributions import RankingDistribution
from podium.testing import DISTRIBUTION_CHECKS, all_rankings, draw_query, instances
from reference.distributions import PROBABILITIES

DISTRIBUTIONS = [law for cls in RankingDistribution.catalogue().values() for law in instances(cls)]
EXAMPLES = [draw_query(np.random.default_rng(n), n, scale=scale)[0] for n, scale in ((1, 1), (2, 3), (4, 4), (5, 1.5))]


@pytest.mark.parametrize("law", DISTRIBUTIONS, ids=repr)
@pytest.mark.parametrize("check", DISTRIBUTION_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_law_keeps_its_promises(check, law):
    for scores in EXAMPLES:
        check(law, scores)


@pytest.mark.parametrize("law", DISTRIBUTIONS, ids=repr)
def test_probabilities_follow_the_definition(law):
    assert law.name in PROBABILITIES, f"tests/reference/distributions.py lacks the definition of {law.name}"
    for scores in EXAMPLES[:3]:
        for ranks in all_rankings(len(scores), ties=law.has_ties):
            assert np.exp(law.log_prob(scores, ranks)) == pytest.approx(
                PROBABILITIES[law.name](law, scores, ranks), rel=1e-9
            )


@pytest.mark.parametrize("law", DISTRIBUTIONS, ids=repr)
def test_only_the_order_of_ranks_matters(law):
    scores = np.array([0.3, 1.0, -0.5])
    assert law.log_prob(scores, [20, 10, 30]) == law.log_prob(scores, [2, 1, 3])


@pytest.mark.parametrize(("ties", "numbers"), [(False, [1, 2, 6, 24, 120]), (True, [1, 3, 13, 75, 541])])
def test_all_rankings_are_listed(ties, numbers):
    assert [len(all_rankings(n, ties=ties)) for n in range(1, 6)] == numbers
