"""Metrics that read topics: the worked example, slow formulas, all orders of few documents, data and runs."""

from __future__ import annotations

import io
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.evaluation.evaluate import evaluate, evaluate_run
from podium.formats.trec.trec import read_qrels, read_run, write_qrels
from podium.methods import method
from podium.metrics import Metric
from podium.metrics.topic_metric import greedy_gains, novelty_gains
from podium.solvers.early_stopping import query_values
from podium.testing.metrics import metric_variants
from reference.topic_metrics import TOPIC_METRICS

QRELS = b"q 1 a 1\nq 2 a 1\nq 1 b 2\nq 3 c 1\nq 2 d 1\nq 2 e 1\nq 3 e 1\nq 4 a 0\n"
RUN = {"q": {document: 9.0 - rank for rank, document in enumerate("abzecd")}}
TABLE = {
    "ERR-IA@5": 0.659607, "ERR-IA@20": 0.665243, "nERR-IA@5": 0.881402, "nERR-IA@20": 0.894879,
    "alpha-DCG@5": 0.692559, "alpha-DCG@20": 0.702360, "alpha-nDCG@5": 0.899232, "alpha-nDCG@20": 0.924614,
    "P-IA@5": 0.4, "P-IA@20": 0.116667, "strec@5": 1.0, "strec@20": 1.0,
    "NRBP": 0.619141, "nNRBP": 0.838624, "MAP-IA": 0.663889,
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_the_worked_example_has_the_digits_of_ndeval(name: str) -> None:
    values = evaluate_run(read_qrels(io.BytesIO(QRELS)), RUN, name, preset="ndeval").values
    assert values[0, 0] == pytest.approx(TABLE[name], abs=6e-7)


ROWS = [line.split() for line in QRELS.decode().splitlines()]


@pytest.mark.parametrize(
    "heads",
    [
        "query,topic,document,grade",
        "query_id,subtopic,docno,rel",
        "qid,Intent,doc_id,rating",
        "topic,iteration,docno,rel",
    ],
)
def test_a_table_of_judgments_has_topics_if_a_column_is_called_so(heads: str) -> None:
    text = "\n".join([heads, *map(",".join, ROWS)])
    qrels = read_qrels(io.BytesIO(text.encode()))
    for name in ("alpha-nDCG@5", "MAP-IA"):
        values = evaluate_run(qrels, RUN, name, preset="ndeval").values
        assert values[0, 0] == pytest.approx(TABLE[name], abs=6e-7)
    grades = dict(zip(qrels.document_ids.tolist(), qrels.labels.tolist(), strict=True))
    assert grades == {"a": 1, "b": 2, "c": 1, "d": 1, "e": 1}, "the largest over topics"


def test_json_records_have_topics_too() -> None:
    records = [dict(zip(("query", "topic", "document", "grade"), row, strict=True)) for row in ROWS]
    qrels = read_qrels(io.BytesIO(json.dumps(records).encode()))
    value = evaluate_run(qrels, RUN, "alpha-ndcg@5[ndeval]").values[0, 0]
    assert value == pytest.approx(TABLE["alpha-nDCG@5"], abs=6e-7)


@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.qrels"])
def test_topics_are_written_and_read_back(name: str, tmp_path: Path) -> None:
    write_qrels(read_qrels(io.BytesIO(QRELS)), tmp_path / name)
    value = evaluate_run(read_qrels(tmp_path / name), RUN, "alpha-ndcg@5[ndeval]").values[0, 0]
    assert value == pytest.approx(TABLE["alpha-nDCG@5"], abs=6e-7)


def test_a_column_that_never_differs_within_a_query_is_no_topic() -> None:
    table = b"query,topic,document,grade\nq,shoes,a,1\nq,shoes,b,0\nr,coats,a,2\n"
    assert read_qrels(io.BytesIO(table)).topics is None
    with pytest.raises(DataError, match="was there before"):
        read_qrels(io.BytesIO(table + b"q,shoes,a,2\n"))
    with pytest.raises(DataError, match="twice for topic"):
        read_qrels(io.BytesIO(table + b"q,other,a,2\nq,other,a,1\n"))


def order_of(text: bytes, metric: str = "alpha-ndcg@2[ndeval]") -> float:
    qrels = read_qrels(io.BytesIO(b"q 1 a 1\nq 2 b 1\nq 2 c 1\n"))
    return float(evaluate_run(qrels, read_run(io.BytesIO(text)), metric).values[0, 0])


def test_ndeval_orders_by_ranks_and_without_usable_ones_by_scores_and_the_largest_id() -> None:
    both, one = 1.0, 1.0 / (1.0 + 1.0 / np.log2(3))  # a and b cover two topics, z none
    assert order_of(b"q Q0 z 3 9 t\nq Q0 a 2 1 t\nq Q0 b 1 1 t\n") == pytest.approx(both)
    assert order_of(b"q Q0 z 1 9 t\nq Q0 a 2 1 t\nq Q0 b 3 1 t\n") == pytest.approx(1.0 - one)
    assert order_of(b"q Q0 z 3 1 t\nq Q0 a 2 9 t\nq Q0 b 2 9 t\n") == pytest.approx(both)  # 2 twice: scores
    assert order_of(b"q Q0 z 1 1 t\nq Q0 a - 9 t\nq Q0 b 2 9 t\n") == pytest.approx(both)
    assert order_of(b"query,document,rank,score\nq,z,3,9\nq,a,2,1\nq,b,1,1\n") == pytest.approx(both)
    traditional = "alpha-ndcg@2[ndeval,order=scores]"
    assert order_of(b"q Q0 z 3 9 t\nq Q0 a 2 1 t\nq Q0 b 1 1 t\n", traditional) == pytest.approx(1.0 - one)


@pytest.mark.parametrize(("k", "value"), [(5, 0.454167), (20, 0.461111)])
def test_err_ia_of_the_textbook_is_the_mean_of_err_over_topics(k: int, value: float) -> None:
    binary = QRELS.replace(b"b 2", b"b 1")
    values = evaluate_run(read_qrels(io.BytesIO(binary)), RUN, f"err-ia@{k}").values
    assert values[0, 0] == pytest.approx(value, abs=6e-7)


def test_a_ranking_may_beat_the_greedy_one_and_its_value_is_not_cut() -> None:
    topics = {"d4": "13", "d3": "23", "d2": "12", "d1": "34"}  # the largest id is the first of equal gains
    lines = "".join(f"q {topic} {document} 1\n" for document, several in topics.items() for topic in several)
    qrels = read_qrels(io.BytesIO(lines.encode()))
    for metric, value in (("alpha-ndcg@3[ndeval]", 1.053), ("alpha-dcg@3", 3.762)):
        values = evaluate_run(qrels, {"q": {"d2": 3.0, "d1": 2.0, "d4": 1.0}}, metric).values
        assert values[0, 0] == pytest.approx(value, abs=6e-4)
    greedy = evaluate_run(qrels, {"q": {"d4": 3.0, "d3": 2.0, "d1": 1.0}}, "alpha-dcg@3").values
    assert greedy[0, 0] == pytest.approx(3.571, abs=6e-4)


@pytest.mark.parametrize("name", TOPIC_METRICS)
def test_values_are_those_of_the_slow_formulas(name: str) -> None:
    rng = np.random.default_rng(1)
    for metric in metric_variants(Metric.catalogue()[name]):
        own = {field: getattr(metric, field) for field in metric.own_parameters()}
        for _ in range(20):
            n, many = int(rng.integers(1, 8)), int(rng.integers(1, 5))
            documents = [{t: float(rng.integers(-1, 4)) for t in range(many) if rng.random() < 0.5} for _ in range(n)]
            rows = [[d, t, grade] for d, grades in enumerate(documents) for t, grade in grades.items()]
            order = rng.permutation(n)
            scores = np.empty(n)
            scores[order] = -np.arange(n)
            value = metric(scores, np.zeros(n), [0, n], topics=Triples.from_rows([rows]))[0]
            if not any(grade >= 1 for _, _, grade in rows):
                assert math.isnan(value)
                continue
            slow = TOPIC_METRICS[name]([documents[d] for d in order], documents, metric.cutoff, **own)
            assert value == pytest.approx(slow, abs=1e-12)


def test_with_one_topic_and_no_redundancy_it_is_the_metric_without_topics() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        labels, scores = rng.integers(0, 4, 7).astype(float), rng.permutation(7)
        topics = Triples.from_rows([[[d, 0, y] for d, y in enumerate(labels)]])
        binary = (labels >= 1).astype(float)
        for ours, plain, grades in (
            ("alpha-ndcg(alpha=0)@5", "ndcg@5", binary),
            ("err-ia(max_grade=3)@5", "err(max_grade=3)@5", labels),
            ("p-ia@5", "p@5", labels),
            ("map-ia", "map", labels),
        ):
            value = Metric.parse(ours)(scores, labels, [0, 7], topics=topics)
            np.testing.assert_allclose(value, Metric.parse(plain)(scores, grades, [0, 7]), atol=1e-12)


def test_the_greedy_list_is_between_the_best_and_its_guarantee() -> None:
    rng = np.random.default_rng(4)
    beaten = 0
    for _ in range(300):
        n, k = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        judged = rng.random((n, 5)) < 0.5
        sets = itertools.combinations(range(n), min(k, n))  # with equal discounts, the order does not matter
        best = max(novelty_gains(judged[list(chosen)], 0.5).sum() for chosen in sets)
        greedy = greedy_gains(judged, 0.5, k).sum()
        assert best + 1e-12 >= greedy >= (1 - 1 / math.e) * best - 1e-12
        beaten += greedy < best - 1e-12
    assert beaten > 0


def test_another_relevant_document_never_lowers_s_recall() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        rows = [[d, t, 1.0] for d in range(6) for t in range(4) if rng.random() < 0.3] + [[5, 0, 1.0]]
        few, more = [row for row in rows if row[0] != 2 or row[1] != 3], [*rows, [2, 3, 1.0]]
        judged = [[9, t, 1.0] for t in range(4)]  # all topics count in both
        first, second = (
            Metric.parse("s-recall@5")(-np.arange(10), np.zeros(10), [0, 10], topics=Triples.from_rows([part + judged]))
            for part in (few, more)
        )
        assert second >= first


def data_with_topics() -> Dataset:
    rows = [[[0, 0, 1.0], [1, 0, 1.0], [2, 1, 1.0]], [[0, 0, 1.0]], []]
    data = Dataset.from_arrays(np.zeros((6, 1)), [1, 1, 1, 1, 0, 0], qid=["a", "a", "a", "b", "b", "c"])
    return replace(data, topics=Triples.from_rows(rows))


def test_data_with_topics_is_evaluated_and_validated_by_them() -> None:
    data, scores = data_with_topics(), np.array([3.0, 2.0, 1.0, 1.0, 2.0, 0.0])
    expected = [(1 + 0.5 / math.log2(3) + 0.5) / (1 + 1 / math.log2(3) + 0.25), 1 / math.log2(3), np.nan]
    np.testing.assert_allclose(evaluate(data, scores, "alpha-ndcg").values[0], expected)
    np.testing.assert_allclose(query_values(Metric.parse("alpha-ndcg"), scores, data), expected)
    unlabelled = replace(data, labels=None)
    np.testing.assert_allclose(evaluate(unlabelled, scores, "alpha-ndcg").values[0], expected)
    with pytest.raises(DataError, match="no labels"):
        evaluate(unlabelled, scores, ["alpha-ndcg", "ndcg"])


def test_shuffled_rows_of_data_keep_their_topics() -> None:
    data, scores = data_with_topics(), np.array([3.0, 2.0, 1.0, 1.0, 2.0, 0.0])
    values = evaluate(data.select(np.array([1, 0])), scores[[3, 4, 0, 1, 2]], "alpha-ndcg").values
    np.testing.assert_allclose(values, evaluate(data, scores, "alpha-ndcg").values[:, [1, 0]])


def test_without_topics_the_error_names_the_files_that_have_them() -> None:
    data = replace(data_with_topics(), topics=None)
    with pytest.raises(IncompatibleError, match=r"alpha-ndcg@20 reads topics.*<data>\.topics.*diversity qrels"):
        evaluate(data, np.zeros(6), "alpha-ndcg@20")
    with pytest.raises(IncompatibleError, match="second column is the topic"):
        evaluate_run({"q": {"a": 1}}, {"q": {"a": 1.0}}, "err-ia@20")


@pytest.mark.parametrize("learner", ["adarank", "permurank", "boltzrank"])
def test_methods_that_learn_by_a_metric_of_labels_refuse_one_of_topics(learner: str) -> None:
    with pytest.raises(IncompatibleError, match="alpha-ndcg@5 reads topics, and this method learns from labels"):
        method(f"{learner}(metric=alpha-ndcg@5)")


def test_ndeval_needs_ids_for_the_ties_of_the_ideal_list() -> None:
    with pytest.raises(DataError, match="ids"):
        evaluate(data_with_topics(), np.arange(6.0), "alpha-ndcg@20[ndeval]")


def test_names_of_ir_measures_and_ndeval_are_understood() -> None:
    for text, name in {
        "alpha_nDCG@20": "alpha-ndcg@20", "ERR_IA@10": "err-ia@10", "nERR_IA@10": "nerr-ia@10", "AP_IA": "map-ia",
        "StRecall@5": "s-recall@5", "strec@5": "s-recall@5", "P_IA@5": "p-ia@5", "NRBP": "nrbp", "nNRBP": "nnrbp",
        "alpha_nDCG(alpha=0.3,rel=2)@20": "alpha-ndcg(alpha=0.3)@20[relevant=2]",
    }.items():  # fmt: skip
        assert repr(Metric.parse(text)) == name


def test_a_document_of_several_topics_has_its_largest_grade_elsewhere() -> None:
    qrels = read_qrels(io.BytesIO(QRELS))
    assert qrels.document_ids.tolist() == ["a", "b", "c", "d", "e"]
    assert qrels.labels.tolist() == [1, 2, 1, 1, 1]
    assert evaluate_run(qrels, RUN, "p@2").values[0, 0] == 1


def test_lines_of_diversity_qrels_may_be_mixed_and_written_again() -> None:
    lines = b"q 1 a 1\r\np 0 z 0\r\n# note\r\n\r\nq 2 a 1\r\np 1 z -2\r\nq 1 b 2"
    qrels = read_qrels(io.BytesIO(lines))
    assert qrels.topics is not None
    assert [qrels.topics.of(q).tolist() for q in (0, 1)] == [[[0, 0, 1], [0, 1, 1], [1, 0, 2]], [[0, 0, 0], [0, 1, -2]]]
    assert qrels.labels.tolist() == [1, 2, 0]
    again = io.BytesIO()
    write_qrels(qrels, again)
    assert again.getvalue() == b"q 1 a 1\nq 2 a 1\nq 1 b 2\np 1 z 0\np 2 z -2\n"


def test_topics_that_begin_late_in_a_large_file_are_read() -> None:
    n = 150_000
    lines = "".join(f"q{i // 50} 0 d{i} 1\n" for i in range(n)) + "q0 7 d0 1\n"
    qrels = read_qrels(io.BytesIO(lines.encode()))
    assert qrels.topics is not None
    assert len(qrels.topics) == n + 1
    assert qrels.topics.of(0)[-1].tolist() == [0, 1, 1]


def test_the_same_second_column_in_all_lines_is_no_topic() -> None:
    for word in ("0", "Q0", "1"):
        qrels = read_qrels(io.BytesIO(f"q {word} a 1\nq {word} b 0\n".encode()))
        assert qrels.topics is None
        with pytest.raises(DataError, match="stands twice"):
            read_qrels(io.BytesIO(f"q {word} a 1\nq {word} a 0\n".encode()))


def test_a_document_twice_for_one_topic_is_refused() -> None:
    with pytest.raises(DataError, match="document 'a' stands twice for topic '1' of query 'q'"):
        read_qrels(io.BytesIO(b"q 1 a 1\nq 2 a 1\nq 1 a 0\n"))


def test_judgments_of_documents_that_a_run_lacks_count_for_the_ideal() -> None:
    qrels = read_qrels(io.BytesIO(QRELS))
    for options in ({}, {"judged_only": True}, {"max_documents": 2}):
        values = evaluate_run(qrels, {"q": {"z": 3.0, "b": 2.0, "y": 1.0}}, "s-recall", **options).values
        assert values[0, 0] == pytest.approx(1 / 3)
