"""Cutting planes: the minimum by a generic quadratic program, a gap that is one, and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.data.preferences import from_labels
from podium.losses import Hinge, Loss, RankNet, SquaredHinge, StructRank
from podium.methods import method
from podium.problem import Problem
from podium.scorers import MLP, Linear
from podium.solvers import LBFGS, CuttingPlane, Newton, Watch
from podium.solvers.cutting_plane import _Planes
from podium.solvers.quadratic_program import minimise_hinge
from podium.testing import draw_query, linear_data
from podium.training import train

DATA = linear_data(12, 9, n_features=4)
CONVEX = [loss for cls in Loss.catalogue().values() if (loss := cls()).convex] + [StructRank(learn=False)]


def solved(solver, loss=Hinge(), data=DATA, watch=None):  # noqa: B008  (a frozen value)
    return solver.solve(Problem(loss, Linear(), data, solver.penalty), np.random.default_rng(0), watch or Watch())


def generic(penalty, data=DATA):
    """The weights and least F of the hinge over all pairs, one slack for each, by an interior point method."""
    edges = from_labels(data.labels, data.offsets)
    first = np.repeat(data.offsets[:-1], np.diff(edges.offsets))
    winners, losers = (first + edges.edges[:, side].astype(int) for side in (0, 1))
    rows = sp.csr_array(data.features[winners].astype(float) - data.features[losers])
    cost = np.full(len(winners), 1 / (penalty * data.n_queries))
    w = minimise_hinge(rows, cost, np.ones(data.n_features), who="test")
    return w, penalty * (0.5 * w @ w + cost @ np.maximum(0, 1 - rows @ w))


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
def test_the_hinge_is_brought_to_the_minimum_of_a_generic_program(penalty):
    w, least = generic(penalty)
    found = solved(CuttingPlane(penalty=penalty, tolerance=1e-6))
    assert least * (1 - 1e-7) <= found.value <= least * (1 + 1e-6)
    np.testing.assert_allclose(found.params["theta"][:-1], w, atol=2e-2 * np.abs(w).max())
    assert found.params["theta"][-1] == 0.0


@pytest.mark.parametrize("tolerance", [0.3, 1e-2, 1e-4])
def test_the_gap_that_it_reports_holds(tolerance):
    _, least = generic(0.3)
    found = solved(CuttingPlane(penalty=0.3, tolerance=tolerance))
    claimed = float(found.reason.split("at most ")[1].split()[0])
    assert found.reason.startswith("converged")
    assert claimed <= tolerance * 1.01
    assert (found.value - least) / found.value <= claimed * 1.05 + 1e-8


def test_the_gap_is_reported_where_iterations_run_out():
    _, least = generic(0.3)
    found = solved(CuttingPlane(penalty=0.3, tolerance=1e-9, iterations=4))
    claimed = float(found.reason.split("at most ")[1].split()[0])
    assert found.reason.startswith("4 iterations were allowed")
    assert (found.value - least) / found.value <= claimed * 1.05


@pytest.mark.parametrize("loss", CONVEX, ids=repr)
def test_losses_that_say_they_are_convex_lie_above_their_tangents(loss):
    rng = np.random.default_rng(0)
    for n in (2, 5, 8):
        (a, labels), b = draw_query(rng, n), 2 * rng.normal(size=n)
        here, there = loss(a, labels), loss(b, labels)
        assert there.value >= here.value + here.gradient @ (b - a) - 1e-9 * max(1.0, abs(there.value))
        assert min(here.value, there.value) >= -1e-12


def test_the_bound_never_passes_the_minimum():
    w, least = generic(0.3)
    planes = _Planes(Problem(Hinge(), Linear(), DATA, 0.3))
    rng = np.random.default_rng(1)
    bounds = []
    for _ in range(40):
        planes.add(planes.point(np.append(w + 0.3 * rng.normal(size=4), 0.0)))
        bounds.append(planes.minimum()[1])
    assert max(bounds) <= least * (1 + 1e-9)
    assert max(bounds) > 0.5 * least


@pytest.mark.parametrize(
    ("loss", "other"), [(SquaredHinge(), Newton(tolerance=1e-9)), (RankNet(), LBFGS(tolerance=1e-13))]
)
def test_smooth_losses_have_the_minimum_that_other_solvers_find(loss, other):
    got, expected = solved(CuttingPlane(tolerance=1e-6), loss), solved(other, loss)
    assert expected.value * (1 - 1e-7) <= got.value <= expected.value * (1 + 1e-6)


def test_nothing_to_learn_is_no_trouble():
    flat = Dataset.from_arrays(np.zeros((4, 2)), [0, 1, 0, 1], group=[2, 2])
    assert solved(CuttingPlane(), data=flat).params["theta"].tolist() == [0.0, 0.0, 0.0]


def test_what_it_cannot_bound_is_refused_with_advice():
    for text, why in (("structrank", "not convex"), ("regression", "sees the offset"), ("softrank", "not convex")):
        with pytest.raises(IncompatibleError, match=rf"{text} .*{why}.*Use solver=lbfgs"):
            CuttingPlane().check(Loss.parse(text), Linear())
    with pytest.raises(IncompatibleError, match=r"linear in their parameters; got mlp\. Use solver=adam"):
        CuttingPlane().check(Hinge(), MLP())


def test_the_method_hinge_is_solved_to_its_tolerance():
    made = train(DATA, method("hinge(penalty=0.1)"))
    assert "converged: at most" in str(made.info["stopped"])
