"""Networks and linear models as programs: the transform to the bit, whole queries where that matters."""

import dataclasses

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.export import Target, prove

DATA = podium.make_letor_like(12, (4, 7), n_features=5, seed=3)[0]


@pytest.fixture(scope="module")
def scaled():
    return podium.train(DATA, "listnet(transform=minmax,iterations=5)")


@pytest.mark.parametrize("name", ["c", "python"])
def test_a_query_is_scaled_as_in_podium(name, scaled):
    target = Target.parse(name)
    given = target.accept(scaled)
    raw = target.write(given)
    X = np.array(DATA.features[:6])
    X[2, 0] = X[4, 0] = np.nan
    X[:, 1] = 3.0  # constant
    X[:, 2] = np.nan  # missing throughout
    X[:, 3] *= 1e30
    expected = scaled.score(podium.Dataset.from_arrays(X))
    assert np.abs(target.run(raw, X, given.names).scores - expected).max() <= given.form.bound(X)
    assert given.form.scores(X) == pytest.approx(expected, abs=1e-15)
    assert not np.allclose(target.run(raw, X[:4], given.names).scores, expected[:4]), "other documents matter"
    proof = prove(given, raw, target, data=DATA)
    assert proof.holds
    assert proof.orders.changed == proof.orders.tied == 0


def test_an_engine_of_single_documents_refuses_it(scaled):
    with pytest.raises(IncompatibleError, match=r"minmax scales within each query.*c or python"):
        Target.parse("solr").accept(scaled)


def test_a_weight_that_was_changed_is_noticed():
    model = podium.train(DATA, "listnet(iterations=3)")
    for name in ("python", "elasticsearch-ltr", "vespa", "ranklib", "solr"):
        target = Target.parse(name)
        given = target.accept(model)
        form = given.form
        changed = form.weights if hasattr(form, "weights") else form.layers[0][0][:, 0]
        text = target.write(given).decode()
        word = next(w for w in (repr(float(changed[0])), str(np.float32(changed[0]))) if w in text)
        assert prove(given, text.encode(), target).holds
        assert not prove(given, text.replace(word, "0.123", 1).encode(), target).holds, name


def test_a_network_has_no_words_in_engines_of_trees():
    model = podium.train(DATA, "listnet(scorer=mlp(hidden=[3]),epochs=2)")
    for name in ("solr", "vespa", "xgboost", "elastic"):
        with pytest.raises(IncompatibleError, match="onnx, c or python"):
            Target.parse(name).accept(model)


@pytest.mark.parametrize("activation", ["elu", "selu", "gelu", "silu"])
@pytest.mark.parametrize("name", ["c", "python", "onnx"])
def test_every_activation_scores_as_in_podium(name, activation):
    if name == "onnx":
        pytest.importorskip("onnxruntime")
    target = Target.parse(name)
    model = podium.train(DATA, f"listnet(scorer=mlp(hidden=[4,3],activation={activation}),epochs=2)")
    given = target.accept(model)
    raw = target.write(given)
    assert target.read(raw, given.names).activation == activation
    X = np.array(DATA.features[:20]) * np.array([1, 30, 1e4, 1, 1], np.float32)
    run = target.run(raw, X, given.names)
    if run is not None:  # a compiler may be missing
        expected = model.score(podium.Dataset.from_arrays(X))
        assert np.abs(run.scores - expected).max() <= given.form.bound(X)
        assert given.form.bound(X) < 1e-10 * np.abs(expected).max()
    assert prove(given, raw, target, data=DATA).holds


def test_layer_norm_is_refused_in_words():
    model = podium.train(DATA, "listnet(scorer=mlp(hidden=[3],layer_norm=true),epochs=1)")
    for name in ("c", "python", "onnx", "solr"):
        with pytest.raises(IncompatibleError, match=rf"{name} does not compute layer norm. Train with mlp\(layer"):
            Target.parse(name).accept(model)


def test_labels_that_are_no_grades_do_not_stop_a_proof():
    data = podium.Dataset.from_arrays(np.eye(3), [0, 1, 1000], qid=["q"] * 3)
    target = Target.parse("python")
    given = target.accept(podium.train(data, "listnet(iterations=5)"))
    proof = prove(given, target.write(given), target, data=data)
    assert proof.holds
    assert proof.orders.ndcg is None
    graded = prove(given, target.write(given), target, data=dataclasses.replace(data, labels=data.labels.clip(0, 2)))
    assert graded.orders.ndcg == 0.0
