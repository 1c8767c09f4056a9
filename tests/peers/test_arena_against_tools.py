"""Ratings against choix and statsmodels, where the models agree."""

import numpy as np
import pytest

from podium.aggregation import PlackettLuceMLE
from podium.aggregation.rankings.rankings import Rankings
from podium.arena import rate

choix = pytest.importorskip("choix")
sm = pytest.importorskip("statsmodels.api")


def battles(rng, m=6, n=400, *, ties=0.0):
    """Rows of random pairs; sides and outcomes as numbers, too."""
    s = np.linspace(-1, 1, m)
    i = rng.integers(0, m, n)
    j = (i + 1 + rng.integers(0, m - 1, n)) % m
    result = np.where(rng.random(n) < 1 / (1 + np.exp(s[j] - s[i])), 1, -1)
    result[rng.random(n) < ties] = 0
    words = {1: "a", -1: "b", 0: "tie"}
    names = [(str(a), str(b), words[r]) for a, b, r in zip(i, j, result.tolist(), strict=True)]
    return [dict(zip(("a", "b", "winner"), row, strict=True)) for row in names], i, j, result


def test_bradley_terry_is_that_of_choix():
    rows, i, j, result = battles(np.random.default_rng(0))
    won = [(a, b) if r > 0 else (b, a) for a, b, r in zip(i.tolist(), j.tolist(), result.tolist(), strict=True)]
    assert rate(rows, prior=0.0).strengths == pytest.approx(choix.opt_pairwise(6, won), abs=1e-6)


def test_plackett_luce_is_that_of_choix():
    rng = np.random.default_rng(1)
    orders = [rng.permutation(5)[: rng.integers(2, 6)].tolist() for _ in range(60)]
    found = PlackettLuceMLE(pseudo=0.0, unranked="skip").fit(
        Rankings.from_orders([[[str(k) for k in order] for order in orders]]).query(0)
    )
    mine = dict(zip(map(str, found.document_ids), found.log_worths, strict=True))
    assert [mine[str(k)] for k in range(5)] == pytest.approx(choix.opt_rankings(5, orders), abs=1e-5)


def test_strengths_and_both_covariances_of_bradley_terry_are_those_of_statsmodels():
    rng = np.random.default_rng(2)
    rows, i, j, result = battles(rng)
    judges = rng.integers(0, 40, len(rows))
    design = np.zeros((len(rows), 6))
    design[np.arange(len(rows)), i] = 1.0
    design[np.arange(len(rows)), j] = -1.0
    model = sm.GLM(result > 0, design[:, 1:], family=sm.families.Binomial())
    apart = np.arange(1, 6)
    plain, found = model.fit(tol=1e-12), rate(rows, prior=0.0)
    assert found.strengths[1:] - found.strengths[0] == pytest.approx(plain.params, abs=1e-7)
    c = found.covariance
    assert np.sqrt(c[0, 0] + np.diag(c)[1:] - 2 * c[0, apart]) == pytest.approx(plain.bse, rel=1e-6)
    options = {"groups": judges, "use_correction": False}
    clustered = model.fit(tol=1e-12, cov_type="cluster", cov_kwds=options)
    found = rate([{**row, "judge": str(k)} for row, k in zip(rows, judges, strict=True)], prior=0.0)
    c = found.covariance * (39 / 40)  # statsmodels without its correction
    assert np.sqrt(c[0, 0] + np.diag(c)[1:] - 2 * c[0, apart]) == pytest.approx(clustered.bse, rel=1e-6)


def test_rao_kupper_is_an_ordered_logit_with_symmetric_thresholds():
    ordinal = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    rows, i, j, result = battles(np.random.default_rng(3), ties=0.3)
    design = np.zeros((len(rows), 6))
    design[np.arange(len(rows)), i] = 1.0
    design[np.arange(len(rows)), j] = -1.0
    both = np.concatenate([design, -design])[:, 1:]  # each battle from both sides, so that thresholds are ±τ
    model = ordinal.OrderedModel(np.concatenate([result, -result]), both, distr="logit")
    fitted = model.fit(method="newton", disp=0, maxiter=200)
    found = rate(rows, "rao-kupper", prior=0.0)
    assert found.strengths[1:] - found.strengths[0] == pytest.approx(fitted.params[:5], abs=1e-5)
    assert np.log(found.ties) == pytest.approx(-fitted.params[5], abs=1e-5)
