import math

from contaminated import Contaminated

from podium.testing import check_distribution
from reference.distributions import plackett_luce


def reference(distribution, scores, ranks):
    chosen = (1 - distribution.epsilon) * plackett_luce(distribution, scores, ranks)
    return chosen + distribution.epsilon / math.factorial(len(scores))


def test_it_keeps_the_promises_of_a_distribution():
    check_distribution(Contaminated(), reference=reference)
