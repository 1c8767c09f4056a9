"""Models behind products and kernels of features: the same arithmetic in a program, and a bound that holds."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError, ModelFileError
from podium.export import Target, prove
from podium.export.replay_vectors import vectors
from podium.export.transforms import Front, Kernel, Products

DATA = podium.make_letor_like(12, (4, 7), n_features=5, seed=3)[0]
TREES = "lambdamart(rounds=3,min_data_in_leaf=3,transform=second-order(correlation=0.02))"
KERNEL = "listnet(iterations=5,transform=nystrom(components=9,of=second-order(correlation=0.05)))"


@pytest.fixture(scope="module")
def models():
    return {method: podium.train(DATA, method) for method in (TREES, KERNEL)}


def accepted(model, name="python"):
    target = Target.parse(name)
    return target, target.accept(model)


def test_products_are_podiums_to_the_bit(models):
    model = models[TREES]
    _, given = accepted(model)
    odd = np.array([0.0, -0.0, 1e-45, 1e-30, -1e30, 3e38, np.nan, 0.3, -0.7, np.inf], np.float32)
    X = np.random.default_rng(0).choice(odd, (300, 5))
    theirs = model.learner.transform.features(model.state, podium.Dataset.from_arrays(X))
    assert given.form.front.transformed(X).astype(np.float32).tobytes() == theirs.tobytes()


def test_vectors_lie_on_both_sides_of_thresholds(models):
    _, given = accepted(models[TREES])
    forest, seen = given.form.forest, given.form.front.transformed(vectors(given))
    assert (forest.feature >= 5).any(), "some splits are on products"
    for feature, cut in zip(forest.feature, forest.threshold, strict=True):
        near = np.abs(seen[:, feature] - cut) <= 1e-5 * max(abs(cut), 1.0)
        assert {True, False} == set((seen[near, feature] <= cut).tolist())


def directly(kernel, X):
    """By the definition, in long doubles, added up from the last to the first."""
    x, z, root = (a.astype(np.longdouble)[..., ::-1] for a in (X, kernel.landmarks, kernel.root.T))
    near = np.exp(-np.longdouble(kernel.gamma) * np.sum((x[:, None] - z) ** 2, axis=2))
    return np.sum(near[:, None, ::-1] * root, axis=2).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("size", [1.0, 30.0, 1e5])
def test_the_bound_of_a_kernel_holds(size):
    rng = np.random.default_rng(1)
    landmarks = size * rng.standard_normal((12, 6))
    root = np.linalg.qr(rng.standard_normal((12, 12)))[0] * 10.0 ** np.arange(-2, 4).repeat(2)
    kernel = Kernel(0.2 / size, landmarks, root)
    X = np.concatenate([landmarks, landmarks + 1e-3, 3 * size * rng.standard_normal((50, 6))])
    for moved in (0.0, 1e-6):
        values, error = kernel.spread(X, np.full(X.shape, moved))
        exact = directly(kernel, X + 0.99 * moved)
        assert (np.abs(values - exact) <= error).all()
        assert np.median(error) <= (1e-6 + 1e3 * moved) * np.abs(root).max(), "and is no excuse"


def test_the_bound_of_products_of_inexact_features_holds():
    rng = np.random.default_rng(2)
    one = Products(np.array([0, 1], np.int32), np.array([1, 1], np.int32), np.array([0.5, -3.0]), np.array([2.0, 0.1]))
    X, off = rng.standard_normal((200, 2)), 1e-3 * rng.random((200, 2))
    values, error = one.spread(X, off)
    apart = np.abs(one.apply(X + off * rng.choice([-1, 1], X.shape)) - values)
    assert (apart <= error)[:, 2:].all()
    assert (error <= 100 * apart.max()).all()
    assert not one.spread(X, 0 * off)[1].any()


def changed(front, **more):
    return replace(front, mixtures=(replace(front.mixtures[0], **more), *front.mixtures[1:]))


def of_kernel(front, key):
    old = getattr(front.mixtures[1], key)
    new = old * 1.001 if key == "gamma" else np.where(np.arange(old.size).reshape(old.shape) == 7, 0.25, old)
    return replace(front, mixtures=(front.mixtures[0], replace(front.mixtures[1], **{key: new})))


FAULTS = {
    "centre": lambda front: replace(front, centre=front.centre + 0.01),
    "filling": lambda front: replace(front, filling=front.filling + 0.01),
    "another pair": lambda front: changed(front, first=front.mixtures[0].first * 0),
    "mean": lambda front: changed(front, mean=front.mixtures[0].mean * 1.01),
    "scale": lambda front: changed(front, scale=front.mixtures[0].scale * 1.01),
    "landmarks": lambda front: of_kernel(front, "landmarks"),
    "root": lambda front: of_kernel(front, "root"),
    "gamma": lambda front: of_kernel(front, "gamma"),
}


@pytest.mark.parametrize("name", ["python", "onnx"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_front_is_noticed(fault, name, models):
    if name == "onnx":
        pytest.importorskip("onnx")
    methods = [KERNEL] if fault in ("landmarks", "root", "gamma") else [KERNEL, TREES]
    for method in methods:
        target, given = accepted(models[method], name)
        wrong = replace(given.form, front=FAULTS[fault](given.form.front))
        proof = prove(given, target.write(replace(given, form=wrong)), target)
        assert not proof.holds
        assert proof.differences


def test_a_threshold_on_a_product_is_named(models):
    target, given = accepted(models[TREES])
    forest = given.form.forest
    at = int(np.flatnonzero(forest.feature >= 5)[0])
    cut = forest.threshold.copy()
    cut[at] = np.float32(cut[at] + 0.5)
    wrong = replace(given.form, forest=replace(forest, threshold=cut))
    proof = prove(given, target.write(replace(given, form=wrong)), target, data=DATA)
    assert not proof.holds
    assert proof.orders.touched > 0
    assert "·" in str(proof).split("differs")[1].split("\n")[0]


def test_tables_that_do_not_fit_are_not_run(models):
    target, given = accepted(models[KERNEL])
    text = target.write(given).decode()
    n = len(given.form.front.mixtures[0].first)
    pair = next(line for line in text.splitlines() if line.startswith("PAIR"))
    beyond = text.replace(
        pair, pair.replace("[", "[99, ", 1).replace(pair[pair.index("[") + 1 :].split(",")[0] + ", ", "", 1)
    )
    with pytest.raises(ModelFileError, match="do not exist"):
        prove(given, beyond.encode(), target)
    with pytest.raises(ModelFileError, match="do not fit"):
        prove(given, text.replace(f"[0, 5, {n}, 0, ", f"[0, 6, {n}, 0, ").encode(), target)
    wider = replace(
        given.form, layers=((np.ones((given.form.front.widths[-1], 9)), np.ones(9)), (np.ones((9, 1)), np.ones(1)))
    )
    kernel = given.form.front.mixtures[1]
    longer = replace(kernel, landmarks=np.tile(kernel.landmarks, (99, 1)), root=np.tile(kernel.root, (99, 1)))
    more = replace(given.form.front, mixtures=(given.form.front.mixtures[0], longer))
    for form in (wider, replace(given.form, front=more)):
        proof = prove(given, target.write(replace(given, form=form)), target)
        assert [one.kind for one in proof.differences] == ["shape"]
        assert proof.engine == "emulated", "it was not run"


def test_who_cannot_say_it_says_what_to_do(models):
    for name, method, words in [
        ("solr", KERNEL, r"solr does not support the transform nystrom.*zscore.*onnx, c or python"),
        ("xgboost", TREES, r"xgboost does not support the transform second-order.*zscore.*onnx, c or python"),
    ]:
        with pytest.raises(IncompatibleError, match=words):
            Target.parse(name).accept(models[method])
    for method, words in {
        "lambdamart(rounds=2,transform=nystrom(components=5))": "last bits .* trees decide by them.*transform=zscore",
        "listnet(iterations=2,transform=second-order(of=query-zscore))": r"query-zscore.*second-order\(of=zscore\)",
    }.items():
        with pytest.raises(IncompatibleError, match=words):
            Target.parse("c").accept(podium.train(DATA, method))


def test_a_front_counts_what_is_missing_between_mixtures_as_zero():
    square = Products(np.array([0], np.int32), np.array([0], np.int32), np.zeros(1), np.ones(1))
    front = Front(np.zeros(1), np.ones(1), np.full(1, np.nan), mixtures=(square,))
    assert front.transformed(np.array([[np.nan], [3.0]], np.float32)).tolist() == [[0.0, 0.0], [3.0, 9.0]]
