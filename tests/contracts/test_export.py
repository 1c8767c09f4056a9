"""What every target promises, over forests that are hard to hand over: decisions for all inputs, engines' sums."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, ModelFileError
from podium.base.float32 import next_down, next_up
from podium.export import Target, export, prove, prove_file
from podium.export.exported_trees import Trees
from podium.imports import import_model
from podium.scorers.trees.exact_splits import sums
from reference.engines import ENGINES
from reference.forests import FLUSHED, MODELS, THRESHOLDS, D, grown, odd

NAMES = tuple(f"f{l}" for l in range(1, D + 1))
OF_TREES = [name for name, target in Target.catalogue().items() if Trees in target.forms]
HERE = [name for name in OF_TREES if name != "onnx"]  # which runs in tests/peers
FEW = ("31 leaves, zero missing", "threshold infinite", "threshold zero")
CASES = [
    (kind, name)
    for kind in MODELS
    for name in HERE
    # programs and LightGBM are run on all of them in tests/peers; OpenSearch has the files of Elasticsearch
    if name not in ("c", "python", "lightgbm", "opensearch-ltr") or kind in FEW
    if not kind.startswith("255") or name == "xgboost"
]


def handed(name, model):
    """The target, and the model in a form that it can say; RankLib has no missing values."""
    target = Target.parse("ranklib(missing_as_zero=true)" if name == "ranklib" else name)
    return target, target.accept(model)


def is_next_to_zero(difference):
    """Solr cannot say thresholds this small."""
    return difference.kind == "threshold" and max(abs(difference.low), abs(difference.high)) < 1e-12


def is_lightgbms_zero(difference):
    """Values that LightGBM takes for 0."""
    return difference.kind == "threshold" and -1.000001e-35 < difference.low <= difference.high < 1.000001e-35


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_decisions_are_the_models_for_every_input(kind, name):
    if name == "lightgbm" and kind in FLUSHED:
        with pytest.raises(IncompatibleError, match="1e-35"):
            handed(name, MODELS[kind]())
        return
    target, given = handed(name, MODELS[kind]())
    proof = prove(given, target.write(given), target)
    left = [one for one in proof.differences if not (name == "solr" and is_next_to_zero(one))]
    assert left == []
    assert proof.seen <= proof.bound
    assert proof.holds == all(is_lightgbms_zero(one) for one in proof.differences)
    if target.name in ("c", "python", "vespa", "lightgbm"):
        assert proof.bound == proof.seen == 0.0, "podium's scores to the bit"


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("kind", ["one leaf", "31 leaves, nan missing", "31 leaves, zero missing", "threshold largest"])
def test_the_engines_rules_give_what_the_proof_takes_them_to_give(kind, name):
    target, given = handed(name, MODELS[kind]())
    raw = target.write(given)
    proof, theirs = prove(given, raw, target), target.read(raw, NAMES)
    rows = proof.rows[:: max(len(proof.rows) // 30, 1)]
    emulated = theirs.scores(rows, single=target.single)
    if target.rounds_score:
        emulated = emulated.astype(np.float32).astype(np.float64)
    found = [ENGINES[name](raw, dict(zip(NAMES, row, strict=True))) for row in rows]
    assert found == emulated.tolist()


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "elastic"])
def test_the_engines_rules_add_up_weights_within_the_bound(name):
    model = import_model(b"## Coordinate Ascent\n1:0.1 2:-0.7 3:1e-3 5:12.5 6:0.3\n")
    target, given = handed(name, model)
    raw = target.write(given)
    proof = prove(given, raw, target)
    found = [ENGINES[name](raw, dict(zip(NAMES, row, strict=True))) for row in proof.rows]
    assert proof.holds
    assert np.abs(np.array(found) - proof.scores - target.constant(given)).max() <= proof.bound


def nearest(forest):
    """Thresholds of LightGBM's doubles rounded up, as rounding to the nearest float32 does with half of them."""
    return replace(forest, threshold=next_up(forest.threshold).astype(np.float64))


def below(forest):
    return replace(forest, threshold=next_down(forest.threshold).astype(np.float64))


def swapped(forest):
    left, right = forest.left.copy(), forest.right.copy()
    left[0], right[0] = forest.right[0], forest.left[0]
    return replace(forest, left=left, right=right)


def flipped(forest):
    side = forest.missing_left.copy()
    side[-1] = not side[-1]
    return replace(forest, missing_left=side)


def another_leaf(forest):
    values = forest.values.copy()
    values[-1] *= 1.001
    return replace(forest, values=values)


FAULTS = [
    (name, fault)
    for name in OF_TREES
    for fault in (nearest, below, swapped, flipped, another_leaf)
    if name != "ranklib" or fault is not flipped  # its files have no side for missing values
]


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_fault_in_a_file_is_noticed(name, fault):
    if name == "onnx":
        pytest.importorskip("onnx")
    target, given = handed(name, grown(31, "nan", 1))
    raw = target.write(replace(given, form=Trees(fault(given.form.forest))))
    proof = prove(given, raw, target)
    assert not proof.holds
    assert proof.differences
    if fault in (nearest, below):
        assert {one.kind for one in proof.differences} == {"threshold"}
        assert all(one.low < one.high for one in proof.differences)


@pytest.mark.parametrize(
    ("name", "what"),
    [("xgboost", "next_up"), ("elasticsearch_ltr", "next_up"), ("vespa", "next_up"), ("solr", "slacked")],
)
def test_an_exporter_that_forgets_its_engines_operator_is_noticed(name, what, monkeypatch):
    monkeypatch.setattr(f"podium.export.{name}.{what}", lambda f: f)
    target, given = handed(name.replace("_", "-"), grown(31, "nan", 1))
    assert not prove(given, target.write(given), target).holds


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("elastic", b'"decision_type":"lte"', b'"decision_type":"lt"'),
        ("onnx", b"BRANCH_LEQ", b"BRANCH_GTE"),
        ("c", b"v <= threshold[k]", b"v < threshold[k]"),
        ("python", b"value <= THRESHOLD[k]", b"value < THRESHOLD[k]"),
        ("vespa", b" < ", b" <= "),
    ],
)
def test_a_file_with_another_operator_is_noticed(name, before, after):
    if name == "onnx":
        pytest.importorskip("onnx")
    target, given = handed(name, odd("ordinary"))
    raw = target.write(given)
    assert before in raw
    with pytest.raises(ModelFileError):
        prove(given, raw.replace(before, after), target)


def test_xgboosts_siblings_that_are_not_neighbours_are_noticed():
    target, given = handed("xgboost", odd("ordinary"))
    raw = (
        target.write(given)
        .replace(b'"right_children":[2,4', b'"right_children":[2,6')
        .replace(b'"left_children":[1,3,5', b'"left_children":[1,3,5')
    )
    with pytest.raises(Exception, match=r"neighbours|reached twice"):
        prove(given, raw, target)


@pytest.mark.parametrize("kind", [kind for kind in MODELS if not kind.startswith("255")])
@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "ranklib"])
def test_what_is_exported_and_imported_scores_the_same(name, kind, tmp_path):
    if name == "lightgbm" and kind in FLUSHED:
        return  # refused
    model = MODELS[kind]()
    target, given = handed(name, model)
    back = import_model(target.write(given))
    X = prove(given, target.write(given), target).rows
    if name == "ranklib":
        X = np.nan_to_num(X, nan=1.0)  # it has no missing values, and knows features up to the last that it uses
    ours, theirs = model.score(X), back.score(X[:, : back.n_features])
    if name == "lightgbm":
        assert theirs.tobytes() == ours.tobytes()
    else:
        values = given.form.forest.values.astype(np.float32).astype(np.float64)
        rounded = sums(replace(given.form.forest, values=values), X, single=False)
        assert theirs.tobytes() == rounded.tobytes(), "but for the rounding of leaves"


def test_data_that_meets_no_difference_proves_a_file_and_data_that_does_disproves_it(tmp_path):
    model = odd("minus tiny")
    usual = np.ones((5, D), np.float32)
    meets = usual.copy()
    meets[0, 0] = -1e-14
    assert not export(model, "solr", tmp_path / "alone").holds
    assert (tmp_path / "alone.unproven").exists()
    assert not (tmp_path / "alone").exists()
    proof = export(model, "solr", tmp_path / "usual", data=usual)
    assert proof.holds
    assert proof.state == "proven except on 1 interval, below"
    assert (tmp_path / "usual").exists()
    assert prove_file(model, "solr", tmp_path / "usual", data=usual).holds
    assert not prove_file(model, "solr", tmp_path / "usual", data=meets).holds
    assert "1 of 5 documents" in str(prove_file(model, "solr", tmp_path / "usual", data=meets))


def test_values_that_lightgbm_takes_for_zero_are_an_exception_unless_a_document_has_one(tmp_path):
    model, meets = odd("tiny"), np.full((5, D), 1e-36, np.float32)
    proof = export(model, "solr", tmp_path / "trees")
    assert proof.holds
    assert "proven except on 1 interval" in str(proof)
    assert "f1 in (0.0, 1.0000000180025095e-35]" in str(proof)
    assert not prove_file(model, "solr", tmp_path / "trees", data=meets).holds


def test_infinite_features_are_refused_where_the_proof_does_not_reach(tmp_path):
    X = np.ones((3, D), np.float32)
    X[1, 2] = np.inf
    with pytest.raises(DataError, match="infinite"):
        export(odd("ordinary"), "xgboost", tmp_path / "m", data=X)
    assert not list(tmp_path.iterdir())
    assert export(odd("ordinary"), "python", tmp_path / "m", data=X).holds


def test_a_missing_value_with_a_side_of_its_own_is_refused_by_ranklib():
    with pytest.raises(IncompatibleError, match="missing_as_zero=true"):
        Target.parse("ranklib").accept(odd("ordinary"))


def test_every_threshold_is_a_model():
    assert all(f"threshold {name}" in MODELS for name in THRESHOLDS)


GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "ranklib.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_ranklib_scored_these_rows_as_its_emulator_does(case):
    """What RankLib's Java scores, made once: tests/golden/make_ranklib.py."""
    raw, X = case["file"].encode(), np.array(GOLDEN["rows"], np.float32)
    if "a bag" not in case["name"]:
        found = [ENGINES["ranklib"](raw, dict(zip(NAMES, row, strict=True))) for row in X]
        assert found == case["scores"]
    model = import_model(raw, n_features=D)
    assert model.score(np.nan_to_num(X)) == pytest.approx(case["scores"], rel=1e-6, abs=1e-7)
    if case["name"].startswith("podium's trees"):
        theirs = Target.parse("ranklib").read(raw, NAMES)
        assert theirs.scores(np.nan_to_num(X), single=True).tolist() == case["scores"]
