"""Folding a transform into a model: thresholds by bisection are exact, weights are summed without rounding."""

from fractions import Fraction

import numpy as np
import pytest

import podium
from podium.base.float32 import from_place, next_down, next_up, round_down, to_place
from podium.data import Dataset
from podium.export import Target, prove
from podium.export.exported_forms import fold
from podium.export.exported_trees import forest_of_stumps
from podium.scorers.forms import LinearForm, StumpsForm
from podium.scorers.trees.exact_splits import fold_map, split_exactly, sums
from podium.scorers.trees.forest import EXACT, Forest
from podium.transforms import ZScore
from podium.transforms.base import Affine as Map
from reference.forests import MODELS, D, leaves_of


def stump(feature, threshold, nan_left=True):
    return Forest(
        n_features=2, first_split=np.array([0, 1]), first_leaf=np.array([0, 2]), feature=np.array([feature], np.int32),
        threshold=np.array([threshold]), left=np.array([-1], np.int32), right=np.array([-2], np.int32),
        missing=np.array([EXACT], np.uint8), missing_left=np.array([nan_left]), values=np.array([1.0, 2.0]),
    )  # fmt: skip


def test_places_of_float32_numbers_are_one_apart():
    values = np.array([-np.inf, -3.5, -1e-45, 0.0, 1e-45, 2.0], np.float32)[1:]
    places = to_place(values)
    assert np.array_equal(from_place(places), values)
    assert np.array_equal(from_place(places + 1), next_up(values))
    assert to_place(np.array([-0.0], np.float32))[0] == 0


def test_a_float64_is_rounded_down_to_a_float32_with_the_same_comparisons():
    t = np.random.default_rng(0).standard_normal(2000) * 10.0 ** np.arange(-50, 50).repeat(20)
    f = round_down(t)
    assert (f.astype(np.float64) <= t).all()
    assert (next_up(f).astype(np.float64) > t).all()


STATES = {
    "usual": (0.3, 0.3, 1 / 0.7),
    "wide": (1e20, 1e20, 1e-19),
    "narrow": (5.0, 5.0, 1e6),
    "not centred": (4.0, 0.0, 0.125),
}


@pytest.mark.parametrize("name", STATES)
def test_a_threshold_on_z_scores_is_found_to_the_last_bit(name):
    mean, centre, scale = STATES[name]
    state = {"mean": np.array([0.0, mean]), "centre": np.array([0.0, centre]), "scale": np.array([1.0, scale])}

    def features(X):
        return ZScore().features(state, Dataset(X, None, np.array([0, len(X)])))

    for bound in (-1.5, 0.0, 0.1, 3.0, -1e-36):
        forest = split_exactly(stump(1, bound))
        folded = fold_map(forest, features, 2)
        assert len(folded.threshold) == 1
        cut = np.float32(folded.threshold[0])
        X = np.zeros((4, 2), np.float32)
        X[:, 1] = [cut, next_up(cut), next_down(cut), np.nan]
        assert sums(folded, X, single=False).tolist() == sums(forest, features(X), single=False).tolist()
        assert sums(folded, X[:2], single=False).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["31 leaves, zero missing", "threshold minus denormal", "one leaf"])
def test_sums_are_those_of_the_leaves_one_tree_after_another(kind):
    given = Target.parse("python").accept(MODELS[kind]())  # splits are shared where zeros are missing
    odd = np.array([0.0, -0.0, 1e-45, -1e-45, 0.5, -0.3, 1e-35, np.nan], np.float32)
    X = np.random.default_rng(0).choice(odd, (40, D))
    values = given.form.forest.values[leaves_of(given.form.forest, X)]
    for one in (np.float32, np.float64):
        total = np.zeros(len(X), one)
        for column in values.T.astype(one):
            total += column
        assert sums(given.form.forest, X, single=one is np.float32).tolist() == total.tolist()


def test_a_split_on_a_constant_feature_is_cut_away():
    state = {"mean": np.zeros(2), "centre": np.zeros(2), "scale": np.array([0.0, 1.0])}

    def features(X):
        return ZScore().features(state, Dataset(X, None, np.array([0, len(X)])))

    assert fold_map(stump(0, 0.5), features, 2).values.tolist() == [1.0]
    assert fold_map(stump(0, -0.5), features, 2).values.tolist() == [2.0]


def test_weights_of_z_scores_become_weights_of_features_with_an_exact_offset():
    rng = np.random.default_rng(1)
    w, centre, scale = rng.standard_normal(9), rng.standard_normal(9) * 1e6, rng.random(9)
    found = fold(LinearForm(w, 0.5), Map(centre, scale, np.zeros(9)))
    terms = [Fraction(0.5)] + [Fraction(float(a)) for a in -w * scale * centre]
    assert found.offset == float(sum(terms))
    assert np.array_equal(found.weights, w * scale)


def test_thresholds_that_add_up_become_one_tree_per_feature_with_the_same_bits():
    rng = np.random.default_rng(2)
    n = 40
    cuts = rng.choice(rng.standard_normal(15), n)
    form = StumpsForm(rng.integers(0, 3, n), cuts, rng.standard_normal(n), (rng.random(n) < 0.5) * 1.0)
    forest = forest_of_stumps(form, 3)
    X = np.round(rng.standard_normal((500, 3)), 1).astype(np.float32)
    at = np.unique(form.threshold).astype(np.float32)
    X[: len(at)] = at[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    total = np.zeros(len(X))
    for l in range(3):
        mine = np.flatnonzero(form.feature == l)
        mine = mine[np.argsort(form.threshold[mine], kind="stable")]
        for i, x in enumerate(X[:, l]):
            passed = form.threshold[mine] < x
            steps = np.append(0.0, np.cumsum(form.alpha[mine]))
            total[i] += form.alpha[mine] @ form.missing[mine] if np.isnan(x) else steps[passed.sum()]
    assert sums(forest, X, single=False).tobytes() == total.tobytes()


@pytest.fixture(scope="module")
def data():
    return podium.make_letor_like(20, (4, 8), n_features=5, seed=2)[0]


@pytest.mark.parametrize("method", ["lambdamart(rounds=5,transform=zscore)", "rankboost(rounds=9)"])
def test_trees_behind_z_scores_score_the_same_bits_without_them(method, data):
    model = podium.train(data, method)
    target = Target.parse("python")
    given = target.accept(model)
    proof = prove(given, target.write(given), target, data=data)
    assert proof.seen == proof.bound == 0.0
    assert proof.holds
