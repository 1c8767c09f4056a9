"""Teams: with members as documents and the place of their team as grade, pmop-fd is the group Plackett–Luce model."""

from __future__ import annotations

import numpy as np
import pytest

import podium
from podium.losses import PMOPFD


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_that_of_teams_whose_worth_is_the_sum_of_their_members(seed: int) -> None:
    rng = np.random.default_rng(seed)
    strengths, team_of = rng.normal(size=9), rng.permutation(np.repeat(np.arange(4), [1, 2, 2, 4]))
    worths = np.bincount(team_of, np.exp(strengths))  # team 0 came first, 3 last
    chances = [worths[place] / worths[place:].sum() for place in range(4)]
    assert PMOPFD()(strengths, 3 - team_of).value == pytest.approx(-np.log(chances).sum(), rel=1e-12)


@pytest.mark.slow
def test_strengths_of_players_are_found_from_the_results_of_their_teams() -> None:
    rng = np.random.default_rng(0)
    players, matches = 10, 1500
    truth = rng.normal(size=players)
    members = np.array([rng.permutation(players)[:6] for _ in range(matches)])  # three teams of two
    worths = np.exp(truth)[members].reshape(matches, 3, 2).sum(axis=2)
    times = rng.exponential(size=(matches, 3)) / worths  # the earliest of exponential times has the model's chances
    places = np.argsort(np.argsort(times, axis=1), axis=1)
    data = podium.Dataset.from_arrays(
        np.eye(players)[members.ravel()], np.repeat(2 - places, 2, axis=1).ravel(), group=np.full(matches, 6)
    )
    weights = podium.train(data, "pmop-fd(transform=identity,penalty=1e-6)").coefficients()
    assert weights is not None
    assert np.corrcoef(weights, truth)[0, 1] > 0.97
