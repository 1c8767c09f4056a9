import math

from power_gain import PowerGain

from podium.testing import check_metric


def reference(ranked, ideal, k, a):
    if not any(y >= 1 for y in ideal):
        return math.nan
    worth = [sum(r**-a for r, y in enumerate(labels[:k], 1) if y >= 1) for labels in (ranked, ideal)]
    return worth[0] / worth[1]


def test_it_keeps_the_promises_of_a_metric():
    check_metric(PowerGain(), reference=reference)
