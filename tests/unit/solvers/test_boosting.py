import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.losses import LambdaRank, Loss, RankNet, StructRank, sweep
from podium.metrics import NDCG, Metric
from podium.problem import Problem
from podium.scorers import Linear, Trees
from podium.solvers import Boosting, Watch
from podium.solvers.boosting import Bag, Descent, for_leaves, grid, kept_trees
from podium.solvers.early_stopping import Step
from podium.testing import linear_data

DATA = linear_data(20, 10)


def run(solver, *, scorer=None, data=DATA, loss=None, watch=None):
    problem = Problem(loss or RankNet(), scorer or Trees(min_data_in_leaf=5), data)
    return solver.solve(problem, np.random.default_rng(0), watch or Watch())


def n_trees(found):
    return found.params["trees"].tobytes().count(b"\nTree=")


def test_a_round_is_a_tree():
    assert n_trees(run(Boosting(rounds=7))) == 7


def test_scores_kept_for_validation_are_those_of_the_model():
    seen = []

    class Recording(NDCG):
        def __call__(self, scores, labels, offsets, **_):
            seen.append(np.array(scores))
            return np.ones(1)

        def __str__(self):
            return "recording"

    valid = linear_data(5, 10, seed=9)
    for rounds in (1, 2, 3):
        found = run(Boosting(rounds=rounds), watch=Watch(valid, Recording()))
        every = run(Boosting(rounds=rounds))
        np.testing.assert_allclose(seen[-1], Trees().score(every.params, valid), rtol=1e-6)
        assert n_trees(found) == rounds  # the last was as good as any


def test_where_curvature_alone_limits_leaves_sums_are_exact_in_any_order():
    rng = np.random.default_rng(0)
    settings = Boosting().settings(Trees(min_data_in_leaf=0, min_sum_hessian_in_leaf=0.5), rng)
    assert grid(settings) == 2.0**-25
    values = rng.normal(size=4000) * 10.0 ** rng.uniform(-6, 2, 4000)
    gradient, curvature = for_leaves(values, abs(values), grid(settings))
    np.testing.assert_allclose(gradient, values, rtol=0, atol=2.0**-26)
    for found in (gradient, curvature):
        assert len({float(np.cumsum(found[rng.permutation(4000)])[-1]) for _ in range(50)}) == 1
    assert len({float(np.cumsum(values[rng.permutation(4000)])[-1]) for _ in range(50)}) > 1
    assert grid(Boosting().settings(Trees(), rng)) is None


def test_too_few_documents_for_two_leaves_give_a_constant_and_a_reason():
    found = run(Boosting(), scorer=Trees(min_data_in_leaf=150))
    np.testing.assert_array_equal(Trees().score(found.params, DATA), 0)
    assert found.reason == "no split found: 200 documents, and a leaf needs 150; set min_data_in_leaf lower"


def test_constant_features_give_a_constant_and_a_reason():
    data = Dataset.from_arrays(np.ones((200, 3)), DATA.labels, group=DATA.sizes)
    found = run(Boosting(), data=data)
    np.testing.assert_array_equal(Trees().score(found.params, data), 0)
    assert "no further split found after 0 rounds" in found.reason


def test_a_penalty_shrinks_leaves():
    plain, shrunk = (run(Boosting(rounds=1, penalty=penalty)).params for penalty in (0.0, 100.0))
    scores = [np.abs(Trees().score(params, DATA)).max() for params in (plain, shrunk)]
    assert scores[1] < 0.5 * scores[0]


def test_a_metric_measured_each_round_stops_early():
    watch = Watch(linear_data(5, 10, seed=9), Metric.parse("ndcg@10"))
    found = run(Boosting(rounds=200, patience=5, learning_rate=0.5), loss=LambdaRank(), watch=watch)
    assert found.iterations == watch.best.iteration + 5
    assert watch.best.valid == max(step.valid for step in watch.history)


def kept_by(values):
    """Number of trees that a script of validation values keeps."""
    steps = [Step(k + 1, len(values), 0.0, value) for k, value in enumerate(values)]
    best = max(steps, key=lambda step: -1.0 if np.isnan(step.valid) else step.valid)
    return kept_trees(Watch(history=steps, best=best), len(steps), "")[0]


def test_a_single_lucky_round_does_not_decide_how_many_trees_are_kept():
    hill = -(((np.arange(100) - 60) / 100) ** 2)
    lucky = hill + 0.3 * (np.arange(100) == 20)
    assert (lucky.argmax(), kept_by(lucky)) == (20, 61)


@pytest.mark.parametrize("rounds", [1, 2, 5, 30])
def test_all_trees_are_kept_if_each_helps_and_one_if_each_harms(rounds):
    rising = np.linspace(0.3, 0.5, rounds)
    assert (kept_by(rising), kept_by(-rising)) == (rounds, 1)


def test_of_equally_good_numbers_the_largest_is_kept():
    assert kept_by(np.full(40, 0.7)) == 40


def test_the_best_round_is_kept_if_the_metric_is_undefined_elsewhere():
    assert kept_by(np.array([0.2, 0.4, np.nan, 0.3])) == 2


def test_parameters_that_a_loss_learns_follow_the_trees_to_their_best_values():
    start = Loss.parse("pairties-rk")
    found = run(Boosting(rounds=40), loss=start)
    scores = Trees().score(found.params, DATA)
    assert found.loss != start
    assert sweep(found.loss, scores, DATA).value < sweep(start, scores, DATA).value
    slope = sweep(found.loss, scores, DATA).params / sweep(start, scores, DATA).params
    assert np.abs(slope).max() < 0.1


def test_the_loss_of_the_best_round_is_kept():
    class Falling(NDCG):
        def __call__(self, scores, labels, offsets, **_):
            return np.array([1.0 / (1.0 + np.abs(scores).max())])

        def __str__(self):
            return "falling"

    watched = run(
        Boosting(rounds=9), loss=Loss.parse("pairties-rk"), watch=Watch(linear_data(5, 10, seed=9), Falling())
    )
    assert n_trees(watched) == 1
    assert watched.loss == run(Boosting(rounds=1), loss=Loss.parse("pairties-rk")).loss


def test_a_loss_that_learns_nothing_stays_as_it_is():
    found = run(Boosting(rounds=3), loss=StructRank(topology="disconnected", learn=False))
    assert found.loss == StructRank(topology="disconnected", learn=False)


def test_a_linear_scorer_is_refused_with_advice():
    with pytest.raises(
        IncompatibleError, match=r"boosting needs a scorer that grows trees; got linear\. Use solver=lbfgs"
    ):
        Boosting().check(RankNet(), Linear())


def test_each_tree_learns_from_a_share_of_the_queries_and_the_same_seed_gives_the_same_trees():
    whole, half, again = (run(Boosting(rounds=10, bagging_fraction=share)) for share in (1.0, 0.5, 0.5))
    assert (half.params["trees"] == again.params["trees"]).all()
    scores = [Trees().score(found.params, DATA) for found in (whole, half)]
    assert not np.allclose(*scores)
    assert np.corrcoef(*scores)[0, 1] > 0.8


def test_queries_that_are_not_drawn_count_in_the_loss_as_they_were_last():
    bag, rng = Bag(DATA.sizes, 0.5, np.random.default_rng(3)), np.random.default_rng(4)
    loss, again = LambdaRank(), Bag(DATA.sizes, 0.5, np.random.default_rng(3))
    descent, known = Descent(loss, DATA, bag), np.empty(DATA.n_queries)
    for round_ in range(4):
        scores = rng.normal(size=DATA.n_documents)
        gradient, _ = descent.derivatives(scores)
        drawn, whole = again.drawn(), sweep(loss, scores, DATA)
        rows = np.repeat(np.isin(np.arange(DATA.n_queries), drawn), DATA.sizes)
        np.testing.assert_array_equal(gradient, np.where(rows, whole.gradient, 0.0))
        seen = drawn if round_ else np.arange(DATA.n_queries)
        known[seen] = whole.per_query[seen]
        assert descent.value == pytest.approx(known.mean(), rel=1e-14)
