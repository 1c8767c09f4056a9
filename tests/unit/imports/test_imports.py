"""Foreign models: what each format means, worked out by hand; what cannot be meant is refused."""

import json

import lightgbm
import numpy as np
import pytest

import podium
from podium.base.errors import ModelFileError, ParameterError
from podium.export import Target
from podium.imports import import_model
from podium.model import Model
from reference.foreign import catboost, files
from reference.forests import D, grown

NAN = np.nan


def scores(model, *rows):
    return model.score(np.array(rows, np.float32)).tolist()


@pytest.mark.parametrize("name", files())
def test_the_beginning_of_a_file_tells_its_format(name):
    assert import_model(files()[name]).info["imported"]["format"] == name.partition(" ")[0]


def test_a_symmetric_tree_of_catboost_answers_bit_by_bit():
    model = import_model(catboost(True))
    assert model.feature_names == ("price", "age", "clicks")
    # leaf = [price > 0.5] + 2·[clicks > −1.25]; score = 2·leaf value + 0.25; a missing price is left, clicks right
    assert scores(model, [0.5, 0, -1.25], [0.6, 0, -1.25], [0.5, 0, -1.2], [0.6, 0, 0]) == [2.25, 4.25, 6.25, 9.25]
    assert scores(model, [NAN, NAN, -2], [NAN, NAN, NAN]) == [2.25, 6.25]


@pytest.mark.parametrize(("before", "after"), [
    (b'"split_index": 1', b'"split_index": 0'), (b'"borders": [-1.25]', b'"borders": [-1.2]'),
    (b'"nan_value_treatment": "AsFalse"', b'"nan_value_treatment": null'),
])  # fmt: skip
def test_a_file_of_catboost_that_contradicts_itself_is_refused(before, after):
    assert before in catboost(True)
    with pytest.raises(ModelFileError, match=r"split_index|nan_value_treatment"):
        import_model(catboost(True).replace(before, after))


def test_a_free_tree_of_catboost_is_walked():
    assert scores(import_model(catboost(False)), [0, 0, 0], [1, 0, -2], [1, 0, 0]) == [1.25, 4.25, -1.75]


TREES = b"""## LambdaMART
## No. of trees = 2

<ensemble>
\t<tree id="1" weight="0.5">
\t\t<split>
\t\t\t<feature> 2 </feature>
\t\t\t<threshold> 0.25 </threshold>
\t\t\t<split pos="left">
\t\t\t\t<output> 4.0 </output>
\t\t\t</split>
\t\t\t<split pos="right">
\t\t\t\t<output> -2.0 </output>
\t\t\t</split>
\t\t</split>
\t</tree>
\t<tree id="2" weight="0.5"><split><output>1.0</output></split></tree>
</ensemble>
"""


def test_ranklibs_trees_weigh_their_outputs_and_take_missing_values_for_0():
    model = import_model(TREES)
    assert scores(model, [0, 0.25], [0, 0.26], [9, NAN]) == [2.5, -0.5, 2.5]


def test_a_tree_of_ranklib_without_its_weight_is_refused():
    with pytest.raises(ModelFileError, match="weight is not a number"):
        import_model(TREES.replace(b' weight="0.5"', b"", 1))


def test_ranklibs_bags_of_trees_are_averaged():
    bagged = TREES.replace(b"## LambdaMART", b"## Random Forests") + TREES.partition(b"\n\n")[2]
    assert scores(import_model(bagged), [0, 0], [0, 1]) == [2.5, -0.5]


def test_ranklibs_weights_are_read_with_their_intercept():
    assert scores(import_model(b"## Coordinate Ascent\n1:0.5 3:-2\n"), [2, 9, 1]) == [-1.0]
    assert scores(import_model(b"## Linear Regression\n0:0.25 1:0.5\n"), [2]) == [1.25]


@pytest.mark.parametrize("weights", [b"1:0.5\n2:1\n", b"1:0.5\r2:1\n", b"1:0.5\t2:1\n", b"1:0_5\n", b"\n"])
def test_weights_that_ranklib_reads_otherwise_are_refused(weights):
    with pytest.raises(ModelFileError):
        import_model(b"## Coordinate Ascent\n" + weights)  # it reads one line, and numbers between spaces


def test_values_next_to_0_are_themselves_but_in_lightgbms_trees():
    text = TREES.replace(b"0.25", b"0.0")
    assert scores(import_model(text), [0, 1e-40], [0, -1e-40]) == [-0.5, 2.5]
    # LightGBM takes both for 0
    flushed = import_model(files()["lightgbm"])
    assert "exact" not in flushed.params


@pytest.mark.parametrize("settings", [{}, {"zero_as_missing": True}, {"boosting": "rf", "bagging_freq": 1,
                                                                      "bagging_fraction": 0.5}])  # fmt: skip
def test_lightgbms_models_score_as_in_lightgbm_to_the_bit(settings, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = np.nan_to_num(X) @ [1, 2, 3, 4]
    data = lightgbm.Dataset(X, y, feature_name=["a", "b", "c", "d"])
    options = {"objective": "regression", "verbosity": -1, "num_threads": 1, "num_leaves": 7, **settings}
    booster = lightgbm.train(options, data, num_boost_round=4)
    booster.save_model(tmp_path / "model.txt")
    model = import_model(tmp_path / "model.txt")
    assert model.feature_names == ("a", "b", "c", "d")
    expected = booster.predict(X, num_threads=1)
    if settings.get("boosting") == "rf":
        assert model.score(X) == pytest.approx(expected, rel=1e-14)  # the mean of trees is a sum of their quarters here
    else:
        assert model.score(X).tobytes() == expected.tobytes()


def test_an_imported_model_is_saved_explained_and_exported(tmp_path):
    model = grown(31, "nan", 3)
    model.save(tmp_path / "m.podium")
    again = Model.load(tmp_path / "m.podium")
    X = np.random.default_rng(0).standard_normal((5, D)).astype(np.float32)
    assert again.score(X).tobytes() == model.score(X).tobytes()
    shares, _ = podium.importance(again, X)
    assert shares.sum() == pytest.approx(1)
    found = podium.explain(again, podium.Dataset.from_arrays(X, qid=["q"] * 5), query="q", documents=("1", "2"))
    assert sum(found.shares) == pytest.approx(found.scores[0] - found.scores[1])


REFUSED = {
    "category": (b"num_cat=0", b"num_cat=1"),
    "several numbers": (b"num_class=1", b"num_class=3"),
    "linear": (b"is_linear=0", b"is_linear=1"),
    "leaf": (b"left_child=", b"left_child=7 "),
    "cut short": (b"tree_sizes=", b"tree_sizes=1000 "),
    "damaged": (b"tree_sizes=", b"tree_sizes=[] "),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_ranking_cannot_use_of_lightgbm_is_refused(what):
    before, after = REFUSED[what]
    with pytest.raises(ModelFileError):
        import_model(files()["lightgbm"].replace(before, after, 1))


def changed(path, value):
    found = json.loads(files()["xgboost"])
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(found).encode()


TREE = ("learner", "gradient_booster", "model", "trees", 0)


@pytest.mark.parametrize(("path", "value", "words"), [
    (("learner", "learner_model_param", "num_class"), "3", "several numbers"),
    (("learner", "learner_model_param", "num_target"), "2", "several numbers"),
    ((*TREE, "split_type"), [1] * 7, "categories"),
    ((*TREE, "right_children", 0), 4, "neighbours"),
    ((*TREE, "default_left", 0), -1, "default_left"),
    ((*TREE, "left_children", 1), 1, "neighbours|twice"),
    ((*TREE, "split_indices", 0), D, "feature 7 of 6"),
    (("learner", "objective", "name"), "multi:softmax", "objective"),
    (("learner", "gradient_booster", "name"), "gbforest", "booster"),
])  # fmt: skip
def test_what_a_ranking_cannot_use_of_xgboost_is_refused(path, value, words):
    with pytest.raises(ModelFileError, match=words):
        import_model(changed(path, value))


def test_the_base_score_is_added():
    assert import_model(changed(("learner", "learner_model_param", "base_score"), "[2.5E-1]")).score(
        np.zeros((1, D), np.float32)
    ) == pytest.approx(import_model(files()["xgboost"]).score(np.zeros((1, D), np.float32)) + 0.25)


@pytest.mark.parametrize(("raw", "words"), [
    (b"CBM1\x00", 'CatBoost.*format="json"'), (b'[\n  {"nodeid": 0}]', r"XGBoost.*save_model\("),
    (b'{"name": "tree", "version": "v4"}', 'LightGBM.*save_model\\("model.txt"'), (b"binf\x00", "XGBoost.*save_model"),
    (catboost(True).replace(b"[0.25]", b"[0.25, 1.0]"), "several numbers"),
])  # fmt: skip
def test_other_files_of_these_tools_are_refused_with_what_to_do(raw, words):
    with pytest.raises(ModelFileError, match=words):
        import_model(raw)


def test_features_have_the_names_of_the_data():
    model = import_model(TREES, feature_names=["größe", "prix unité", "age"])
    assert model.feature_names == ("größe", "prix unité", "age"), "as many as the data has"
    assert "features" in import_model(TREES).info["imported"]
    for names in (["a"], ["a", "a"]):
        with pytest.raises(ParameterError, match="name"):
            import_model(TREES, feature_names=names)


def test_a_file_that_is_too_large_or_unknown_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="larger than"):
        import_model(files()["xgboost"], most_bytes=10)
    with pytest.raises(ModelFileError, match="save_model"):
        import_model(b"\x80\x04\x95")
    with pytest.raises(ParameterError, match="one of lightgbm"):
        import_model(b"x", format="onnx")
    with pytest.raises(ParameterError, match="best"):
        import_model(TREES, trees="best")


def test_every_target_that_is_imported_reads_its_own_file():
    for name in ("lightgbm", "xgboost", "ranklib"):
        assert name in Target.catalogue()
