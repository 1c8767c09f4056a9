"""Agreement and consensus are those of krippendorff and crowd-kit (extra `peers`) on random votes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from podium.base.errors import ConvergenceWarning
from podium.judgments.agreement import krippendorff as alpha
from podium.judgments.consensus import consensus
from podium.judgments.dawid_skene import dawid_skene
from podium.judgments.judge_tables import JudgeTables
from podium.judgments.judgments import Judgments
from podium.judgments.one_coin import one_coin

pytestmark = pytest.mark.slow


def voted(votes: np.ndarray) -> Judgments:
    """Judgments of one query from a table of judges by documents, NaN where there is no vote."""
    item, judge = np.nonzero(~np.isnan(votes.T))
    names = [f"{i:03}" for i in item]
    return Judgments.from_rows(["q"] * len(item), names, [f"j{j}" for j in judge], votes[judge, item])


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_krippendorff(level: str) -> None:
    tool = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(0)
    for _ in range(50):
        judges, items, grades = rng.integers(2, 6), rng.integers(4, 15), rng.integers(2, 6)
        votes = rng.integers(0, grades, (judges, items)).astype(float)
        votes[rng.random(votes.shape) < 0.2] = np.nan
        pairable = votes[:, np.sum(~np.isnan(votes), axis=0) > 1]
        if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
            continue  # nothing to disagree about
        theirs = tool.alpha(reliability_data=votes, level_of_measurement=level)
        assert alpha(voted(votes), level=level, draws=1).value == pytest.approx(theirs, abs=1e-12)  # type: ignore[arg-type]


def unequal_judges(seed: int) -> np.ndarray:
    """Votes on 40 documents by 4 judges of unequal quality, 3 grades, some votes missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 40)
    right = rng.random((4, 40)) < np.array([[0.9], [0.75], [0.6], [0.4]])
    votes = np.where(right, truth, rng.integers(0, 3, (4, 40))).astype(float)
    votes[rng.random(votes.shape) < 0.15] = np.nan
    return votes[:, ~np.isnan(votes).all(axis=0)]


@pytest.fixture(scope="module")
def crowdkit() -> Any:
    return pytest.importorskip("crowdkit.aggregation")


def theirs(crowdkit: Any, tool: str, votes: np.ndarray, **settings: Any) -> Any:
    import pandas as pd

    judge, item = np.nonzero(~np.isnan(votes))
    frame = pd.DataFrame({"task": item, "worker": judge, "label": votes[judge, item]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about what crowd-kit calls
        return getattr(crowdkit, tool)(**settings).fit(frame)


@pytest.mark.parametrize("seed", range(5))
def test_majority_of_crowd_kit(crowdkit: Any, seed: int) -> None:
    """The shares of votes, and the label where one grade has the most; crowd-kit breaks ties by the order of grades."""
    votes = unequal_judges(seed)
    found, tool = consensus(voted(votes), "majority"), theirs(crowdkit, "MajorityVote", votes)
    shares = tool.probas_.sort_index().sort_index(axis=1).to_numpy()
    np.testing.assert_allclose(found.probabilities, shares, atol=1e-12)
    clear = (shares == shares.max(axis=1, keepdims=True)).sum(axis=1) == 1
    np.testing.assert_array_equal(found.labels[clear], tool.labels_.sort_index().to_numpy()[clear])
    assert clear.sum() > 20


def steps(votes: np.ndarray, n: int) -> JudgeTables:
    with pytest.warns(ConvergenceWarning):
        return dawid_skene(voted(votes), smoothing=0.0, iterations=n, tolerance=1e-300)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_dawid_skene_of_crowd_kit_step_by_step(crowdkit: Any, n: int) -> None:
    """Both start from the shares of votes. crowd-kit ends with a maximisation, podium with the posterior, so its prior
    and tables are those that podium has one step later; and it raises probabilities below 1e-10 to that."""
    for seed in range(5):
        votes = unequal_judges(seed)
        tool = theirs(crowdkit, "DawidSkene", votes, n_iter=n, tol=-np.inf)
        posterior = tool.probas_.sort_index().sort_index(axis=1).to_numpy()
        np.testing.assert_allclose(steps(votes, n).posterior, posterior, atol=1e-8)
        later = steps(votes, n + 1)
        np.testing.assert_allclose(later.prior, tool.priors_.sort_index().to_numpy(), atol=1e-8)
        tables = tool.errors_.sort_index().sort_index(axis=1).to_numpy().reshape(4, 3, 3)  # judge, said, true
        judges = [int(name[1:]) for name in voted(votes).judges]
        np.testing.assert_allclose(later.tables, tables.transpose(0, 2, 1)[judges], atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_wawa_of_crowd_kit(crowdkit: Any, seed: int) -> None:
    """Weights of judges, where majorities are clear, since both break ties otherwise."""
    votes = unequal_judges(seed)
    counts = consensus(voted(votes), "majority").probabilities
    clear = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
    votes = votes[:, clear]
    found, tool = consensus(voted(votes), "wawa"), theirs(crowdkit, "Wawa", votes)
    assert found.judges is not None
    weights = dict(zip(voted(votes).judges, np.diagonal(found.judges.tables, axis1=1, axis2=2)[:, 0], strict=True))
    for judge, skill in tool.skills_.items():
        assert weights[f"j{judge}"] == pytest.approx(skill)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_one_coin_of_crowd_kit_step_by_step(crowdkit: Any, n: int) -> None:
    for seed in range(5):
        votes = unequal_judges(seed)
        tool = theirs(crowdkit, "OneCoinDawidSkene", votes, n_iter=n, tol=-np.inf)
        with pytest.warns(ConvergenceWarning):
            found = one_coin(voted(votes), smoothing=0.0, iterations=n, tolerance=1e-300)
        np.testing.assert_allclose(found.posterior, tool.probas_.sort_index().sort_index(axis=1).to_numpy(), atol=1e-7)


def test_mace_and_glad_are_as_good_as_those_of_crowd_kit(crowdkit: Any) -> None:
    """Their priors and starts differ, so that posteriors do; labels agree on nearly all items."""
    same = {"MACE": [], "GLAD": []}
    for seed in range(3):
        votes = unequal_judges(seed)
        for tool, agreed in same.items():
            settings = {"random_state": 0} if tool == "MACE" else {}
            labels = theirs(crowdkit, tool, votes, **settings).labels_.sort_index().to_numpy()
            agreed.append(np.mean(consensus(voted(votes), tool.lower()).labels == labels))
    assert all(np.mean(agreed) > 0.9 for agreed in same.values()), same
