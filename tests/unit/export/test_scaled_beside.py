"""Models behind add-minmax: features as they are, and some of them again, scaled within their query."""

import re
from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ModelFileError
from podium.export import Target, prove
from podium.export.exported_trees import Trees
from podium.export.replay_vectors import vectors
from podium.transforms import MinMax

PLAIN = podium.make_letor_like(14, (4, 8), n_features=5, seed=3)[0]
SCALED = replace(PLAIN, features=MinMax().features({}, PLAIN))
LEVELS = 30 * np.random.default_rng(1).standard_normal((PLAIN.n_queries, 5))[PLAIN.query_index]
LEVELS[:, 1] = 0.0
DATA = replace(SCALED, features=(SCALED.features + LEVELS).astype(np.float32))  # but for one, no feature is scaled
HOLES = (np.arange(5) == np.arange(len(LEVELS))[:, None] % 9) & (np.arange(5) != 1)
GAPS = replace(DATA, features=np.where(HOLES, np.float32(np.nan), DATA.features))
TREES = "lambdamart(rounds=4,min_data_in_leaf=3,transform=add-minmax)"
LINEAR = "recipe(loss=listnet,scorer=linear,transform=add-minmax)"
NET = "listnet(scorer=mlp(hidden=[3]),epochs=2,transform=add-minmax)"
STACK = "lambdamart(rounds=3,min_data_in_leaf=3,transform=second-order(correlation=0.02,of=add-minmax))"
KERNEL = "listnet(iterations=4,transform=nystrom(components=7,of=add-minmax))"
TARGETS = ["c", "python", "onnx"]


@pytest.fixture(scope="module")
def models():
    smooth = {method: podium.train(DATA, method) for method in (LINEAR, NET)}
    return {**smooth, **{method: podium.train(GAPS, method) for method in (TREES, STACK, KERNEL)}}


def accepted(model, name="python"):
    if name == "onnx":
        pytest.importorskip("onnx")
    target = Target.parse(name)
    return target, target.accept(model)


ODD = np.array([0.0, -0.0, 1e-45, 1e-30, -1e30, 3e38, np.nan, 0.3, -0.7], np.float32)


def hostile():
    """A query of odd values; one feature is missing throughout, and one constant."""
    X = np.random.default_rng(0).choice(ODD, (40, 5))
    X[:, 2], X[:, 3] = np.nan, 7.0
    return X


@pytest.mark.parametrize("method", [TREES, LINEAR, NET, STACK, KERNEL])
def test_the_front_is_the_transform_to_the_bit(method, models):
    _, given = accepted(models[method])
    X = hostile()
    own = models[method].learner.transform.features(models[method].state, podium.Dataset.from_arrays(X))
    made, front = given.form.front.transformed(X).astype(np.float32), given.form.front
    assert front.added.tolist() == [0, 2, 3, 4], "one is scaled as it is"
    assert np.isnan(front.filling).all() == (method in (TREES, LINEAR, NET)), "and what is missing stays so, for trees"
    if method == KERNEL:
        assert made == pytest.approx(own, abs=1e-6)
    else:
        assert made.tobytes() == own.tobytes()


@pytest.mark.parametrize("method", [TREES, LINEAR, NET, STACK, KERNEL])
@pytest.mark.parametrize("name", TARGETS)
def test_files_score_as_podium(name, method, models):
    target, given = accepted(models[method], name)
    data = DATA if method in (LINEAR, NET) else GAPS
    proof = prove(given, target.write(given), target, data=data)
    assert proof.holds, str(proof)
    assert proof.orders.changed == proof.orders.tied == 0
    if method in (TREES, STACK) and name != "onnx":
        assert proof.bound == proof.seen == 0.0, "podium's scores to the bit"


@pytest.mark.parametrize("n", [1, 40])
@pytest.mark.parametrize("name", TARGETS)
def test_engines_score_odd_queries_to_the_bit(name, n, models):
    target, given = accepted(models[TREES], name)
    X = hostile()[:n]
    ran = target.run(target.write(given), X, given.names)
    if ran is None:
        pytest.skip("the engine is not here")
    own = models[TREES].score(podium.Dataset.from_arrays(X))
    assert ran.scores.tobytes() == (own.astype(np.float32).astype(float) if name == "onnx" else own).tobytes()


def test_vectors_lie_on_both_sides_of_thresholds_within_their_query(models):
    _, given = accepted(models[TREES])
    forest, seen = given.form.forest, given.form.front.transformed(vectors(given))
    assert {True, False} == set((forest.feature >= 5).tolist()), "on features as they are, and on scaled ones"
    for feature, cut in zip(forest.feature, forest.threshold, strict=True):
        near = np.abs(seen[:, feature] - cut) <= 1e-5 * max(abs(cut), 1.0)
        assert {True, False} == set((seen[near, feature] <= cut).tolist())
    assert np.isnan(seen[:, :5]).any(axis=0).all()


FAULTS = {
    "another feature": lambda front: replace(front, added=front.added[[1, 0, 2, 3]]),
    "one feature fewer": lambda front: replace(front, added=front.added[:-1]),
    "missing values as 0": lambda front: replace(front, filling=0 * front.centre),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", TARGETS)
def test_a_fault_in_the_front_is_noticed(name, fault, models):
    for method in (TREES,) if "missing" in fault else (TREES, LINEAR):
        target, given = accepted(models[method], name)
        wrong = replace(given.form, front=FAULTS[fault](given.form.front))
        if fault == "one feature fewer" and method == TREES:
            wrong = replace(wrong, forest=replace(wrong.forest, feature=np.minimum(wrong.forest.feature, 7)))
        elif fault == "one feature fewer":
            wrong = replace(wrong, layers=((wrong.layers[0][0][:-1], wrong.layers[0][1]),))
        raw = target.write(replace(given, form=wrong))
        if fault == "one feature fewer" and name == "c":
            with pytest.raises(ModelFileError, match="code of the program"):  # which says the lengths of its arrays
                prove(given, raw, target)
            continue
        proof = prove(given, raw, target)
        assert not proof.holds
        assert [one.kind for one in proof.differences] == ["shape" if "fewer" in fault else "value"]


def test_a_program_of_fewer_features_is_not_run(models):
    target, given = accepted(models[TREES])
    text = re.sub(r'(CENTRE|SCALE|FILLING) = array\("d", \[[^,]*, ', r'\1 = array("d", [', target.write(given).decode())
    text = re.sub(r'ADDED = array\("i", .*', 'ADDED = array("i", [0, 0, 1, 2, 3])', text)  # as many as before in all
    proof = prove(given, text.encode(), target)
    assert [one.kind for one in proof.differences] == ["shape"]
    assert proof.engine == "emulated", "it was not run"


def test_data_that_podium_refuses_is_refused_in_words(models):
    target, given = accepted(models[LINEAR])
    with pytest.raises(DataError, match="value nan, which linear cannot take"):
        prove(given, target.write(given), target, data=GAPS)


def test_a_threshold_on_a_scaled_feature_is_named(models):
    target, given = accepted(models[TREES])
    forest = given.form.forest
    cut = forest.threshold + np.where(np.arange(len(forest.feature)) == np.argmax(forest.feature), 0.5, 0.0)
    wrong = replace(given.form, forest=replace(forest, threshold=cut.astype(np.float32).astype(np.float64)))
    proof = prove(given, target.write(replace(given, form=wrong)), target, data=GAPS)
    assert not proof.holds
    assert proof.orders.touched > 0
    assert f"scaled f{given.form.front.added[forest.feature.max() - 5] + 1} in (" in str(proof)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('ADDED = array("i", [0,', 'ADDED = array("i", [5,'),
        ('ADDED = array("i", [0,', 'ADDED = array("i", [-1,'),
        ('ADDED = array("i", [0,', 'ADDED = array("i", [1e99,'),
        ('WITHIN = array("i", [1])', 'WITHIN = array("i", [0])'),
        ('FILLING = array("d", [', 'FILLING = array("d", [0.0, '),
        ("ADDED = array", "OTHERS = array"),
        ("[now[l] for l in ADDED]", "[now[l] for l in ADDED[:2]]"),
    ],
)
def test_damaged_tables_are_refused(before, after, models):
    for method in (TREES, LINEAR):
        target, given = accepted(models[method])
        text = target.write(given).decode()
        assert before in text
        with pytest.raises(ModelFileError, match=r"[Ee]xport the model again"):
            prove(given, text.replace(before, after).encode(), target)


@pytest.mark.parametrize("wrong", [[5, 2, 3, 4], [-1, 2, 3, 4], [0.0, 2.0, 3.0, 4.0], [[0, 2, 3, 4]], [], None])
def test_a_damaged_graph_is_refused(wrong, models):
    onnx = pytest.importorskip("onnx")
    for method in (TREES, LINEAR):
        target, given = accepted(models[method], "onnx")
        graph = onnx.load_from_string(target.write(given))
        at = next(k for k, one in enumerate(graph.graph.initializer) if one.name == "added")
        del graph.graph.initializer[at]
        if wrong is not None:
            kind = np.int64 if not wrong or isinstance(wrong[0], int | list) else np.float64
            graph.graph.initializer.append(onnx.numpy_helper.from_array(np.array(wrong, kind), "added"))
        with pytest.raises(ModelFileError, match=r"[Ee]xport the model again"):
            prove(given, graph.SerializeToString(), target)


def test_engines_of_single_documents_refuse_it(models):
    for name in ("solr", "xgboost", "lightgbm", "vespa", "elastic", "elasticsearch-ltr", "ranklib"):
        with pytest.raises(
            IncompatibleError,
            match=rf"add-minmax scales within each query, and {name} scores one document at a time\. Train with .*"
            r"'lambdamart\(transform=identity\)', or export to onnx, c or python, which take whole queries",
        ):
            Target.parse(name).accept(models[TREES])


@pytest.mark.parametrize("method", [TREES.replace("4", "2"), LINEAR, "rankboost(rounds=5,transform=add-minmax)"])
def test_where_nothing_is_added_every_target_takes_the_model(method):
    model = podium.train(SCALED, method)
    assert not len(model.state["added"])
    for name, kind in Target.catalogue().items():
        if (
            name == "onnx"
            or Trees not in kind.forms
            or (method == LINEAR and name in ("xgboost", "lightgbm", "elastic"))
        ):
            continue
        target = Target.parse("ranklib(missing_as_zero=true)" if name == "ranklib" else name)
        given = target.accept(model)
        assert given.form.front is None or not given.form.front.within_query
        proof = prove(given, target.write(given), target, data=SCALED)
        assert proof.holds, str(proof)
