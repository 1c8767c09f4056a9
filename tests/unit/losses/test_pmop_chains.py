"""The chains of pmop-gibbs and pmop-mh: their distribution against enumeration, and that of the printed rule."""

import itertools

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.synthetic import make_letor_like
from podium.jit.compiled import compiled
from podium.kernels.subset_chains import gibbs, metropolis_hastings
from podium.losses import PMOPMH, PMOPExact, PMOPGibbs
from podium.methods import method
from podium.metrics import NDCG
from podium.testing import check_loss
from podium.training import train
from reference.losses import metropolis_hastings_move, pmop_gibbs, pmop_mh

F = np.array([0.8, -1.5, 0.3, 2.0, -0.4, 1.1, -0.9])
STEPS = 200_000


def exact_distribution():
    """P(S) of each mask of the seven documents, by enumeration."""
    weights = np.zeros(128)
    for m in range(1, 8):
        for chosen in itertools.combinations(range(7), m):
            weights[sum(1 << i for i in chosen)] = np.exp(F[list(chosen)].mean())
    return weights / weights.sum()


@compiled
def visits(move_is_gibbs, f, steps):
    """How often each mask is visited, from {0} on; a step of Gibbs sampling is a scan."""
    seen, inside, state = np.zeros(1 << len(f)), np.zeros(len(f), np.bool_), np.uint64(7)
    inside[0] = True
    for _ in range(steps):
        state = gibbs(f, inside, state) if move_is_gibbs else metropolis_hastings(f, inside, state)
        mask = 0
        for i in range(len(f)):
            mask += inside[i] << i
        seen[mask] += 1
    return seen / steps


def total_variation(found):
    return 0.5 * np.abs(found - exact_distribution()).sum()


def test_gibbs_sampling_converges_to_the_distribution():
    assert total_variation(visits(True, F, STEPS)) < 0.03


def test_corrected_metropolis_hastings_converges_to_the_distribution():
    assert total_variation(visits(False, F, STEPS)) < 0.03


@pytest.mark.parametrize(("as_printed", "low", "high"), [(False, 0.0, 0.06), (True, 0.25, 0.4)])
def test_the_printed_ratio_has_another_distribution(as_printed, low, high):
    """Φ(S)/Φ(X) alone would need a proposal that is symmetric, and it is not: sizes are even, subsets are not."""
    rng = np.random.default_rng(0)
    draws, inside, seen = iter(rng.random, None), {0}, np.zeros(128)
    for _ in range(20_000):
        inside = metropolis_hastings_move(F, inside, draws, as_printed=as_printed)
        seen[sum(1 << i for i in inside)] += 1
    assert low <= total_variation(seen / seen.sum()) <= high


@pytest.mark.parametrize(
    ("loss", "tolerance"), [(PMOPGibbs(samples=30_000), 0.01), (PMOPMH(samples=30_000), 0.03)], ids=repr
)
def test_long_chains_estimate_the_exact_gradient(loss, tolerance):
    labels = np.array([2, 0, 1, 1, 0, 2, 0])
    assert loss(F, labels).gradient == pytest.approx(PMOPExact()(F, labels).gradient, abs=tolerance)


@pytest.mark.parametrize("backward", [False, True])
def test_chains_eliminate_too(backward):
    check_loss(PMOPGibbs(backward=backward, samples=1), reference=pmop_gibbs, examples=3)
    check_loss(PMOPMH(backward=backward, samples=1), reference=pmop_mh, examples=3)


def test_one_document_stays_in_its_block():
    assert PMOPGibbs()([0.7], [1]).value == 0
    assert PMOPMH()([0.7], [1]).value == 0


@pytest.mark.parametrize("name", ["pmop-gibbs", "pmop-mh"])
def test_a_sampled_method_learns(name):
    data, _ = make_letor_like(n_queries=60, seed=1)
    mine, other = (
        np.nanmean(NDCG(10)(train(data, how).score(data), data.labels, data.offsets))
        for how in (f"{name}(epochs=5,penalty=0.0)", "random")
    )
    assert mine > other + 0.1


def test_lbfgs_refuses_a_contrast():
    with pytest.raises(IncompatibleError, match="subsets held fixed"):
        method("pmop-gibbs(solver=lbfgs)").learner.check(make_letor_like(n_queries=3, seed=1)[0])
