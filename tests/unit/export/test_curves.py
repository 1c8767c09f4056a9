"""Quantiles and clipping in exported models: folded into trees, tables in front of networks and linear models."""

import dataclasses

import numpy as np
import pytest

from podium import train
from podium.base.errors import IncompatibleError, ModelFileError
from podium.data.dataset import Dataset
from podium.export import Target, prove
from podium.export.exported_forms import Net


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4)).astype(np.float32)
    X[:, 1] = np.exp(3 * X[:, 1])
    X[:, 2] = np.maximum(X[:, 2], 0)
    X[:, 3] = 7.0
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.log(np.nan_to_num(X[:, 1]) + 0.1) > 1).astype(int)
    return Dataset.from_arrays(X, y, group=[20] * 10)


TRANSFORMS = ["quantile(bins=30)", "quantile(to=uniform,bins=30)", "clip(low=0.1,high=0.9)", "clip(of=identity)"]


@pytest.fixture(scope="module")
def models():
    trained = {}
    for transform in [*TRANSFORMS, "signed-log"]:
        trained["trees", transform] = train(data(), method=f"lambdamart(transform={transform},rounds=3)")
    for transform in [*TRANSFORMS[:3], "signed-log"]:
        trained["linear", transform] = train(data(), method=f"listnet(transform={transform})")
    return trained


def proven(model, name, rows=None):
    target = Target.parse(name)
    exportable = target.accept(model)
    return exportable, prove(exportable, target.write(exportable), target, data=rows)


@pytest.mark.parametrize("name", ["c", "python", "onnx"])
@pytest.mark.parametrize("transform", TRANSFORMS[:3])
def test_programs_have_the_curve_as_a_table(transform, name, models):
    if name == "onnx":
        pytest.importorskip("onnx")
    exportable, proof = proven(models["linear", transform], name, data())
    assert isinstance(exportable.form, Net)
    assert proof.differences == ()
    assert proof.seen <= proof.bound < 1e-12
    assert "as in podium" in proof.missing


@pytest.mark.parametrize("transform", TRANSFORMS[:3])
def test_the_front_is_the_transform_to_the_bit(transform, models):
    model = models["linear", transform]
    front, X = Target.parse("python").accept(model).form.front, np.asarray(data().features)
    edges = np.concatenate([X, np.nextafter(X, np.float32(9e9)), np.float32([[np.inf] * 4, [-np.inf] * 4, [0.0] * 4])])
    rows = Dataset.from_arrays(edges, group=[len(edges)])
    expected = model.learner.transform.features(model.state, rows)
    np.testing.assert_array_equal(front.transformed(edges), expected.astype(np.float64))


@pytest.mark.parametrize("transform", [*TRANSFORMS, "signed-log"])
def test_trees_behind_an_increasing_map_are_trees_of_raw_features(transform, models):
    for name in ("solr", "python"):
        exportable, proof = proven(models["trees", transform], name, data())
        assert exportable.form.front is None
        assert proof.holds
        assert proof.orders.changed == 0


@pytest.mark.parametrize(("transform", "key", "name"), [
    (TRANSFORMS[0], "knot", "c"), (TRANSFORMS[0], "low", "python"), (TRANSFORMS[2], "high", "python"),
])  # fmt: skip
def test_a_fault_in_a_table_is_noticed(transform, key, name, models):
    target = Target.parse(name)
    exportable = target.accept(models["linear", transform])
    front = exportable.form.front
    numbers = getattr(front.curve, key).copy()
    numbers[2] *= 1.0 - 1e-9
    curve = dataclasses.replace(front.curve, **{key: numbers})
    form = dataclasses.replace(exportable.form, front=dataclasses.replace(front, curve=curve))
    raw = target.write(dataclasses.replace(exportable, form=form))
    assert [difference.kind for difference in prove(exportable, raw, target).differences] == ["value"]


def test_knots_that_do_not_rise_are_not_run(models):
    target = Target.parse("python")
    exportable = target.accept(models["linear", "quantile(bins=30)"])
    front = exportable.form.front
    curve = dataclasses.replace(front.curve, knot=front.curve.knot[::-1].copy())
    with pytest.raises(ValueError, match=r"do not rise"):
        _ = dataclasses.replace(front, curve=curve).widths
    raw = target.write(exportable).replace(b'FIRST_KNOT = array("i", [0, ', b'FIRST_KNOT = array("i", [0, 1, ')
    with pytest.raises(ModelFileError):
        prove(exportable, raw, target)


def test_who_cannot_say_it_says_what_to_do(models):
    with pytest.raises(IncompatibleError, match=r"solr does not support the transform quantile.*export to onnx, c or"):
        Target.parse("solr").accept(models["linear", "quantile(bins=30)"])
    with pytest.raises(IncompatibleError, match=r"c does not support the transform signed-log.*zscore, quantile"):
        Target.parse("c").accept(models["linear", "signed-log"])
    flags = train(data(), method="listnet(transform=missing-flags)")
    with pytest.raises(IncompatibleError, match=r"missing-flags adds features.*transform=zscore"):
        Target.parse("c").accept(flags)
