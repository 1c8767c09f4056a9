"""Evaluation of scores and runs."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.data import Dataset
from podium.evaluation.evaluate import evaluate, evaluate_run, read_metrics
from podium.formats.trec.trec import read_qrels, read_run
from podium.metrics import Metric

DATA = Dataset.from_arrays(np.eye(5), [0, 1, 2, 0, 0], qid=["a", "a", "a", "b", "b"], document_ids=list("uvwxy"))
SCORES = [3.0, 2.0, 1.0, 5.0, 4.0]


def test_values_are_those_of_the_ranking() -> None:
    found = evaluate(DATA, SCORES, ["dcg", "p@1"])
    # ranked grades of query a: 0, 1, 2
    assert found.values[0, 0] == pytest.approx(1 / math.log2(3) + 3 / math.log2(4))
    assert found.values[1, 0] == 0.0
    assert found.query_ids == ("a", "b")


def test_queries_without_a_relevant_document_are_skipped_and_counted() -> None:
    average = evaluate(DATA, SCORES, ["ndcg"]).means()["ndcg"]
    assert (average.queries, average.skipped) == (1, 1)
    counted = evaluate(DATA, SCORES, ["ndcg"], preset="ranklib").means()["ndcg@10[ranklib]"]
    assert (counted.queries, counted.skipped) == (2, 0)
    assert counted.value == pytest.approx(average.value / 2)


def test_a_preset_holds_where_the_metric_names_no_convention() -> None:
    metrics = read_metrics(["ndcg@10", "ndcg@10[trec]", Metric.parse("map")], "letor3")
    assert [str(metric) for metric in metrics] == ["ndcg@10[letor3]", "ndcg@10[trec]", "map[letor3]"]


def test_a_metric_named_twice_is_computed_once() -> None:
    assert len(read_metrics(["ndcg@10", "NDCG@10", "ndcg_cut_10"])) == 1


def test_wrong_numbers_of_scores_are_refused() -> None:
    with pytest.raises(DataError, match=r"5 documents, but scores of shape \(4,\)"):
        evaluate(DATA, SCORES[:4])


def test_data_without_labels_is_refused() -> None:
    with pytest.raises(DataError, match="no labels"):
        evaluate(Dataset.from_arrays(np.eye(2)), [1.0, 2.0])


def test_no_metric_and_an_unknown_metric_are_misuse() -> None:
    with pytest.raises(ParameterError, match="At least one metric"):
        evaluate(DATA, SCORES, [])
    with pytest.raises(UnknownNameError, match=r"No metric 'ndgc'\. Did you mean 'ndcg"):
        evaluate(DATA, SCORES, ["ndgc@10"])


def test_the_dictionary_is_json_with_null_for_skipped_queries() -> None:
    made = evaluate(DATA, SCORES, ["ndcg@10"]).to_dict(per_query=True)
    again = json.loads(json.dumps(made, allow_nan=False))
    assert again["per_query"]["b"] == {"ndcg@10": None}
    assert again["metrics"]["ndcg@10"]["queries"] == 1
    assert again["metrics"]["ndcg@10"]["convention"] == "ndcg@10[exp2,log2,ties=mean,empty=skip]"
    assert "per_query" not in evaluate(DATA, SCORES).to_dict()


QRELS = b"1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n3 0 a 1\n"
RUN = b"1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 z 1 1.0 t\n9 Q0 a 1 1.0 t\n"


def test_a_run_is_judged_on_the_queries_in_both() -> None:
    found = evaluate_run(read_qrels(io.BytesIO(QRELS)), read_run(io.BytesIO(RUN)), ["ndcg", "recall@5"], preset="trec")
    assert (found.n_qrels, found.n_run, found.n_both) == (3, 3, 2)
    assert found.query_ids == ("1", "2")
    # document c was not retrieved but is part of the ideal order 2, 1
    assert found.values[0].tolist() == pytest.approx([1 / (2 + 1 / math.log2(3)), 0.0])
    assert found.values[1].tolist() == pytest.approx([1 / 2, 0.0])
    assert found.to_dict()["queries"] == {"judged": 3, "run": 3, "both": 2}


def test_a_run_with_no_query_in_common_is_refused() -> None:
    with pytest.raises(DataError, match="no query in common"):
        evaluate_run(read_qrels(io.BytesIO(QRELS)), read_run(io.BytesIO(b"q1 Q0 a 1 2.0 t\n")))
