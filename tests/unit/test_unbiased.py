"""Learning from clicks: naive weights keep the rankers' bias, propensities take it off and reach the oracle."""

import pytest
from benchmarks.unbiased_runs import SOFTMAX, kinds, made, quality

from podium.clicks import weights
from podium.propensities import propensities


@pytest.mark.parametrize("seed", range(5))
def test_propensities_beat_naive_clicks_and_reach_the_oracle(seed):
    here = made(seed)
    log = here.counts(100_000)
    found = {kind: quality(here, data, SOFTMAX) for kind, data in kinds(here, log).items()}
    harvested = weights(log, propensities(log, "harvest(draws=0)"), here.train).data
    assert found["ips"] >= found["naive"] + 0.02
    assert abs(found["ips"] - found["oracle"]) <= 0.01
    assert abs(quality(here, harvested, SOFTMAX) - found["oracle"]) <= 0.01
