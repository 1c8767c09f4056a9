"""Rows in any order: every public function takes and gives numbers in the caller's row order.

Each function is called with the rows of queries together and with the same rows shuffled, as a Dataset, as frames and
as arrays. Numbers per row must be the same numbers shuffled, numbers per query the same numbers.
"""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import podium
from podium.base.errors import DataError, ParameterError
from podium.data import Dataset, Fold, from_frame, k_folds, split, to_frame
from podium.evaluation.cross_validate import cross_validate
from podium.evaluation.reconcile import reconcile
from podium.explanation.explain import explain
from podium.formats import read_letor, write_letor
from podium.formats.trec.trec import Run
from podium.testing import linear_data

TOGETHER, VALID = linear_data(12, 6), linear_data(8, 6, seed=1)
NAMES = ["x", "y", "z"]
X, Y = np.asarray(TOGETHER.features), np.asarray(TOGETHER.labels)
QID = np.array([f"q{q}" for q in TOGETHER.query_index])
ROWS = np.random.default_rng(3).permutation(len(Y))
METHODS = ["ranknet", "ranknet(transform=minmax)", "lambdamart(rounds=20,min_data_in_leaf=1)"]


def frame(make=pd.DataFrame, rows=ROWS, **extra):
    columns = {"label": Y, "qid": QID} | {name: X[:, c] for c, name in enumerate(NAMES)} | extra
    return make({name: pd.Series(column[rows]).tolist() for name, column in columns.items()})


SHUFFLED = Dataset.from_arrays(X[ROWS], Y[ROWS], qid=QID[ROWS], feature_names=NAMES)
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
}
VALIDS = (VALID.features, VALID.labels, VALID.query_index)


@pytest.fixture(params=METHODS, scope="module")
def model(request):
    return podium.train(Dataset.from_arrays(X, Y, qid=QID, feature_names=NAMES), request.param, valid=VALIDS)


def test_the_rows_of_queries_do_lie_apart():
    assert not np.array_equal(ROWS, np.sort(ROWS))
    with pytest.raises(DataError, match="lie apart"):
        SHUFFLED.offsets[0]


@pytest.mark.parametrize("maker", FRAMES)
def test_scores_and_ranks_come_in_the_order_of_the_rows(model, maker):
    scores, ranks = model.score(X, qid=QID), model.rank(X, qid=QID)
    assert len(set(ranks.tolist())) > 3
    shuffled = frame(FRAMES[maker])
    for found in (model.score(SHUFFLED), model.score(shuffled), model.score(X[ROWS], qid=QID[ROWS])):
        np.testing.assert_allclose(found, scores[ROWS], rtol=1e-6, atol=1e-7)
    for found in (model.rank(SHUFFLED), model.rank(shuffled), model.rank(X[ROWS], qid=QID[ROWS])):
        np.testing.assert_array_equal(found, ranks[ROWS])


def test_a_frame_gets_its_scores_as_a_column(model):
    table = frame()
    table["score"] = model.score(table[NAMES], qid=table["qid"])
    expected = dict(zip(map(tuple, X.tolist()), model.score(X, qid=QID), strict=True))
    for row in table.itertuples():
        assert row.score == pytest.approx(expected[row.x, row.y, row.z], rel=1e-6, abs=1e-7)


def test_odds_come_in_the_order_of_the_rows(model):
    together = model.distribution(X, qid=QID).summary()
    for found in (model.distribution(SHUFFLED), model.distribution(frame())):
        for key in ("first", "expected", "low", "high"):
            np.testing.assert_allclose(
                getattr(found.summary(), key), getattr(together, key)[ROWS], rtol=1e-4, atol=1e-6
            )
    again = model.distribution(SHUFFLED, scores=model.score(SHUFFLED)).summary()
    np.testing.assert_allclose(again.first, together.first[ROWS], rtol=1e-4, atol=1e-6)


def test_evaluation_takes_scores_in_the_order_of_the_rows(model):
    scores = model.score(X, qid=QID)
    expected = podium.evaluate(Y, scores, "ndcg@3", qid=QID)
    by_query = dict(zip(expected.query_ids, expected.values[0], strict=True))
    mixed = podium.evaluate(SHUFFLED, scores, "ndcg@3")
    assert dict(zip(mixed.query_ids, mixed.values[0], strict=True)) != by_query  # the test can fail
    calls = {
        "dataset": podium.evaluate(SHUFFLED, model.score(SHUFFLED), "ndcg@3"),
        "dataset, scores of arrays": podium.evaluate(SHUFFLED, model.score(X[ROWS], qid=QID[ROWS]), "ndcg@3"),
        "frame": podium.evaluate(frame(), scores[ROWS], "ndcg@3"),
        "frame of polars": podium.evaluate(frame(pl.DataFrame), scores[ROWS], "ndcg@3"),
        "arrays": podium.evaluate(Y[ROWS], scores[ROWS], "ndcg@3", qid=QID[ROWS]),
        "series": podium.evaluate(frame()["label"], model.score(SHUFFLED), "ndcg@3", qid=frame()["qid"]),
    }
    for name, found in calls.items():
        for query, value in zip(found.query_ids, found.values[0], strict=True):
            assert value == pytest.approx(by_query[query], abs=1e-12), name


def test_training_sees_the_same_data_in_any_order():
    expected = podium.train(Dataset.from_arrays(X, Y, qid=QID, feature_names=NAMES), "ranknet").score(X, qid=QID)
    models = [
        podium.train(SHUFFLED, "ranknet"),
        podium.train(frame(), "ranknet"),
        podium.train(frame(pl.DataFrame), method="ranknet"),
        podium.train(X[ROWS], Y[ROWS], "ranknet", qid=QID[ROWS]),
        podium.train(frame()[NAMES], frame()["label"], "ranknet", qid=frame()["qid"]),
        podium.train(X, Y, "ranknet", group=TOGETHER.sizes),
    ]
    for found in models:
        np.testing.assert_allclose(found.score(X, qid=QID), expected, rtol=1e-4, atol=1e-5)


def test_validation_data_is_taken_in_any_order_of_rows_and_columns():
    rows = np.random.default_rng(5).permutation(VALID.n_documents)
    columns = {"qid": VALID.query_index[rows], "z": 2, "y": 1, "label": VALID.labels[rows], "x": 0}
    turned = pd.DataFrame({name: VALID.features[rows, c] if isinstance(c, int) else c for name, c in columns.items()})
    trials = [
        podium.train(frame(), "ranknet", valid=valid).info["trials"]
        for valid in (VALIDS, turned, tuple(part[rows] for part in VALIDS))
    ]
    for found in trials[1:]:
        assert [t["valid"] for t in found] == pytest.approx([t["valid"] for t in trials[0]], abs=1e-9)


def test_runs_files_and_frames_keep_documents_with_their_numbers(model):
    ids = np.array([f"d{k}" for k in range(len(Y))])
    data = Dataset.from_arrays(X[ROWS], Y[ROWS], qid=QID[ROWS], feature_names=NAMES, document_ids=ids[ROWS])
    expected = dict(zip(ids, model.score(X, qid=QID), strict=True))
    run = Run.from_scores(data, model.score(data))
    for name, score in zip(run.document_ids, run.scores, strict=True):
        assert score == pytest.approx(expected[name], rel=1e-6, abs=1e-7)
    assert to_frame(data)["document_id"].tolist() == data.document_ids.tolist() == ids[ROWS].tolist()
    assert to_frame(data)["label"].tolist() == Y[ROWS].tolist()
    file = io.BytesIO()
    write_letor(data, file)
    back = read_letor(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(back.features, X[ROWS])
    assert back.document_ids.tolist() == ids[ROWS].tolist()


def test_parts_of_shuffled_data_keep_rows_with_their_labels():
    truth = dict(zip(map(tuple, X.tolist()), Y, strict=True))
    parts = [
        *split(SHUFFLED),
        *split(frame()),
        *(part for fold in k_folds(SHUFFLED, 3) for part in (fold.train, fold.valid, fold.test)),
    ]
    parts += [SHUFFLED.select([3, 1]), SHUFFLED.grouped(), Fold(SHUFFLED, SHUFFLED, None, "one").valid]
    for part in parts:
        assert [truth[tuple(row)] for row in part.features.tolist()] == part.labels.tolist()


def test_explanations_name_rows_of_the_input(model):
    found = explain(model, SHUFFLED, query=QID[0], documents=tuple(str(np.flatnonzero(k == ROWS)[0]) for k in (0, 1)))
    scores = model.score(SHUFFLED)
    for name, score in zip(found.documents, found.scores, strict=True):
        assert score == pytest.approx(scores[int(name)], abs=1e-9)


def test_other_judgments_see_the_same_queries(model):
    together, scores = Dataset.from_arrays(X, Y, qid=QID, feature_names=NAMES), np.random.default_rng(0).random(len(Y))
    found = [podium.calibration(model.distribution(data), data).brier for data in (together, SHUFFLED)]
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    assert podium.calibration(model.distribution(frame()), frame()).brier == pytest.approx(found[1], abs=1e-9)
    with pytest.raises(DataError, match="rows in another order"):
        podium.calibration(model.distribution(together), SHUFFLED)
    sides = [
        reconcile(data, values, "ndcg@3[lightgbm]", "ndcg@3[sklearn]").difference
        for data, values in ((together, scores), (SHUFFLED, scores[ROWS]))
    ]
    assert sides[0] == pytest.approx(sides[1], abs=1e-12)
    assert sides[0] != 0
    codes = [{one.code for one in podium.check(data)} for data in (together, SHUFFLED)]
    assert {one.code for one in podium.check({"train": frame()})} == codes[1]
    assert codes[1] == codes[0] | {"scattered-queries"}


def test_comparison_and_cross_validation_see_the_same_queries():
    folds = [Fold(data, VALID, data, "one") for data in (SHUFFLED.grouped(), SHUFFLED)]
    tables = [podium.compare([fold], ["ranknet"], ["ndcg@3"]).outcomes[0] for fold in folds]
    np.testing.assert_array_equal(tables[0].values, tables[1].values)
    found = [cross_validate(data, "ranknet", metrics="ndcg@3", folds=3) for data in (SHUFFLED, frame())]
    np.testing.assert_array_equal(found[0].values, found[1].values)
    assert found[0].query_ids == tuple(SHUFFLED.query_ids)
    arrays = cross_validate(X[ROWS], Y[ROWS], "ranknet", qid=QID[ROWS], metrics="ndcg@3", folds=3)
    np.testing.assert_allclose(arrays.values, found[0].values)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: podium.train(X, Y), "which rows belong to one query"),
        (lambda: podium.train(frame()[NAMES], Y[ROWS]), "which rows belong to one query"),
        (lambda: podium.evaluate(Y, Y, "ndcg@10"), "which rows belong to one query"),
        (lambda: podium.evaluate(X, Y, "ndcg@10"), "labels: expected one per row; got shape"),
        (lambda: podium.evaluate(SHUFFLED, Y, "ndcg@10", qid=QID), "a Dataset knows its queries"),
        (lambda: podium.evaluate("train.txt", Y), "got a path"),
        (lambda: podium.train((X, Y, QID)), "Give its parts"),
        (lambda: podium.train("train.txt"), "got a path"),
        (lambda: podium.train(SHUFFLED, Y, "ranknet"), "a Dataset has its labels"),
        (lambda: podium.train(SHUFFLED, "ranknet", qid=QID), "a Dataset knows its queries"),
        (lambda: podium.train(SHUFFLED, "ranknet", valid=(X, Y)), "a tuple .features, labels, qid.; got 2"),
        (lambda: podium.train(frame(), Y[ROWS], "ranknet", qid=QID[ROWS]), "column 'label', which would be a feature"),
        (lambda: podium.train(frame().drop(columns="qid"), "ranknet"), "no column 'qid'"),
        (lambda: podium.train(frame(), "ranknet", valid=frame().drop(columns="x")), "no feature 'x'"),
    ],
)
def test_what_could_go_silently_wrong_is_refused(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_two_methods_are_one_too_many():
    with pytest.raises(ParameterError, match="two methods, listnet and ranknet"):
        podium.train(SHUFFLED, "listnet", "ranknet")


def test_models_that_look_at_a_query_ask_for_it():
    model = podium.train(SHUFFLED, "listmle(transform=minmax)")
    for call in (model.score, model.rank, model.distribution):
        with pytest.raises(DataError, match=r"looks at a whole query at a time.*group=\[72\]"):
            call(X)
        call(X, group=[len(X)])
    with pytest.raises(DataError, match="a Dataset knows its queries"):
        model.score(SHUFFLED, qid=QID)


def test_a_frame_with_other_columns_is_scored_by_the_columns_of_the_model(model):
    extra = frame(title=np.array([f"t{k}" for k in range(len(Y))]), w=np.arange(len(Y)))
    np.testing.assert_array_equal(model.score(extra[["w", "title", "z", "qid", "y", "x"]]), model.score(frame()))
    with pytest.raises(DataError, match=r"no column 'x' \(features\)"):
        model.score(frame().drop(columns="x"))
    assert from_frame(frame()).feature_names == tuple(NAMES)
