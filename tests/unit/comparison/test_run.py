"""Comparisons: what is trained, chosen and reported, and going on after an interruption."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, UnknownNameError
from podium.comparison import TaskEvent, compare
from podium.data import Dataset, Fold, make_letor_like, split, to_frame
from podium.evaluation.evaluate import evaluate
from podium.formats import read_folder, write_letor
from podium.model import Model
from podium.training import train

METHODS = ["random", "regression", "single-feature"]


def folds(n: int = 2) -> list[Fold]:
    made = [split(make_letor_like(20, (4, 8), n_features=5, seed=k)[0]) for k in range(n)]
    return [Fold(*parts, name=f"Fold{k + 1}") for k, parts in enumerate(made)]


def test_each_method_is_trained_tuned_and_reported_on_its_own_part() -> None:
    data = folds()
    found = compare(data, METHODS, ["ndcg@5", "map"], tune_by="p@1", seed=3)
    for outcome in found.outcomes:
        fold = next(fold for fold in data if fold.name == outcome.fold)
        model = train(fold.train, outcome.method, valid=fold.valid, metric="p@1", seed=3)
        assert fold.test is not None
        expected = evaluate(fold.test, model.score(fold.test), ["ndcg@5", "map"])
        np.testing.assert_array_equal(outcome.values, expected.values)
        assert outcome.query_ids == expected.query_ids
        assert outcome.learner == repr(model.learner)
    assert list(found.by_method) == METHODS
    assert found.by_method["regression"][0].chosen["penalty"] in (0.001, 0.01, 0.1, 1.0)
    assert found.by_method["random"][0].chosen == {}


def test_a_dataset_a_frame_and_arrays_are_split_as_a_file_is(tmp_path: Path) -> None:
    data = make_letor_like(20, (4, 8), n_features=5, seed=1)[0]
    write_letor(data, tmp_path / "data.txt")
    [fold] = read_folder(tmp_path / "data.txt", seed=2)
    rows = np.random.default_rng(0).permutation(data.n_documents)
    arrays = {"labels": data.labels[rows], "qid": data.query_ids[data.query_index[rows]]}
    expected = compare(fold, "regression", "ndcg@5", seed=2).outcomes[0]
    found = [
        compare(data, "regression", "ndcg@5", seed=2),
        compare(to_frame(data), "regression", "ndcg@5", seed=2),
        compare(data.features[rows], "regression", "ndcg@5", seed=2, **arrays),
    ]
    for comparison in found[:2]:
        assert comparison.outcomes[0].query_ids == expected.query_ids
        np.testing.assert_allclose(comparison.outcomes[0].values, expected.values)
    assert len(found[2].outcomes[0].query_ids) == len(expected.query_ids)


def test_queries_are_not_given_twice() -> None:
    with pytest.raises(DataError, match="folds have their labels and queries in them"):
        compare(folds(), "regression", qid=[1, 2])
    with pytest.raises(DataError, match="which rows belong to one query"):
        compare(np.ones((4, 2)), "regression", labels=[0, 1, 0, 1])


def test_ndcg_at_10_tunes_unless_told_whatever_is_reported_first() -> None:
    found = compare(folds(1), ["regression"], ["ndcg@1", "map"], preset="ranklib")
    assert found.outcomes[0].info["metric"] == "ndcg@10[ranklib]"
    assert found.to_dict()["tune_by"] == "ndcg@10[ranklib]"
    found = compare(folds(1), ["regression"], ["ndcg@1"], tune_by="map", preset="ranklib")
    assert found.outcomes[0].info["metric"] == "map[ranklib]"


def test_the_folder_holds_results_models_and_every_query(tmp_path: Path) -> None:
    data = folds()
    found = compare(data, METHODS, ["ndcg@5", "map"], output=tmp_path)
    results = json.loads((tmp_path / "results.json").read_text())
    assert results == json.loads(json.dumps(found.to_dict()))
    lines = (tmp_path / "per_query.tsv").read_text().splitlines()
    assert lines[0] == "method\tfold\tquery\tndcg@5\tmap"
    assert len(lines) == 1 + len(METHODS) * sum(fold.test.n_queries for fold in data if fold.test)
    assert "| regression |" in (tmp_path / "table.md").read_text()
    test = data[1].test
    assert test is not None
    model = Model.load(tmp_path / "models" / "Fold2-regression.podium")
    values = evaluate(test, model.score(test), ["ndcg@5", "map"]).values
    np.testing.assert_array_equal(values, found.by_method["regression"][1].values)


class Stopped(KeyboardInterrupt):
    """An interruption of our own."""


def test_an_interrupted_comparison_goes_on_where_it_ended(tmp_path: Path) -> None:
    whole = compare(folds(), METHODS, ["ndcg@5"])
    done = 0

    def stop(seen: TaskEvent) -> None:
        nonlocal done
        done += seen.state == "done"
        if done == 4:
            raise Stopped

    with pytest.raises(Stopped):
        compare(folds(), METHODS, ["ndcg@5"], output=tmp_path, observer=stop)
    assert len(list((tmp_path / "runs").iterdir())) == 4
    assert not (tmp_path / "results.json").exists()
    resumed = compare(folds(), METHODS, ["ndcg@5"], output=tmp_path)
    assert sum(outcome.model is None for outcome in resumed.outcomes) == 4
    for one, other in zip(whole.outcomes, resumed.outcomes, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        assert (one.learner, one.chosen, one.query_ids) == (other.learner, other.chosen, other.query_ids)


@pytest.mark.parametrize(
    "change", ["seed", "metric", "tuning", "data", "query ids", "method", "model file", "run file"]
)
def test_what_depends_on_something_else_is_done_again(tmp_path: Path, change: str) -> None:
    data = folds(1)
    arguments = {"methods": ["random"], "metrics": ["ndcg@5"], "seed": 0}
    compare(data, **arguments, output=tmp_path)
    if change == "seed":
        arguments["seed"] = 1
    elif change == "tuning":
        arguments["tune_by"] = "map"
    elif change == "metric":
        arguments["metrics"] = ["ndcg@5[trec]"]
    elif change == "data":
        data = [Fold(data[0].train, data[0].valid, folds(2)[1].test, "Fold1")]
    elif change == "query ids":
        test = data[0].test
        assert test is not None
        other = Dataset.from_arrays(test.features, test.labels, group=test.sizes, document_ids=test.document_ids)
        data = [Fold(data[0].train, data[0].valid, other, "Fold1")]
    elif change == "method":
        arguments["methods"] = ["single-feature"]
    elif change == "model file":
        (tmp_path / "models" / "Fold1-random.podium").write_bytes(b"something else")
    else:
        (tmp_path / "runs" / "Fold1-random.json").write_text('{"key": "cut off')
    again = compare(data, **arguments, output=tmp_path)
    assert again.outcomes[0].model is not None


def test_methods_whose_names_look_alike_as_files_are_kept_apart(tmp_path: Path) -> None:
    names = ["regression(penalty=0.1)", "regression(penalty=0.10)"]
    compare(folds(1), names, output=tmp_path)
    assert len(list((tmp_path / "models").iterdir())) == 2


def test_what_would_fail_later_is_refused_before_any_work() -> None:
    [fold] = folds(1)
    with pytest.raises(UnknownNameError, match=r"No method 'regresion'\. Did you mean 'regression'"):
        compare([fold], ["random", "regresion"])
    with pytest.raises(DataError, match="no labelled test data"):
        compare([Fold(fold.train, fold.valid, None, "Fold1")], ["random"])
    with pytest.raises(
        IncompatibleError, match=r"lbfgs needs a scorer with parameters.*got trees\. Use solver=boosting"
    ):
        compare([fold], ["random", "recipe(loss=regression,scorer=trees)"])
    with pytest.raises(IncompatibleError, match=r"unjudged@5 cannot tell which model ranks better"):
        compare([fold], ["random"], tune_by="unjudged@5")
    seen: list[TaskEvent] = []
    with pytest.raises(DataError, match="no gain in the table"):
        compare([fold], ["regression"], ["ndcg@5[gain=[0,1]]"], observer=seen.append)
    assert not seen


def test_without_validation_data_nothing_is_tuned() -> None:
    [fold] = folds(1)
    found = compare([Fold(fold.train, None, fold.test, "one")], ["regression"])
    assert found.outcomes[0].chosen == {}
    assert "trials" not in found.outcomes[0].info
