"""Metrics of diversity are those of ndeval, run by pyndeval and ir_measures, on random topics."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest

from podium.evaluation.evaluate import evaluate_run
from podium.formats.trec.trec import Qrels, Run, read_qrels, read_run

pyndeval = pytest.importorskip("pyndeval")
Lines = list[tuple[str, str, str, int]]


def random_topics(seed: int) -> tuple[Lines, dict[str, dict[str, float]]]:
    """Judgments by topic, and a run with distinct scores that lacks some judged documents and has others."""
    rng = np.random.default_rng(seed)
    lines, run = [], {}
    for q in range(6):
        documents, many = [f"d{i}" for i in range(rng.integers(1, 60))], int(rng.integers(1, 7))
        lines += [
            (f"q{q}", str(t), d, int(rng.choice([0, 1, 1, 2])))
            for d in documents
            for t in range(many)
            if rng.random() < 0.3
        ]
        ranked = rng.permutation([*documents, *(f"z{i}" for i in range(20))])[: rng.integers(1, 50)]
        run[f"q{q}"] = {str(d): float(score) for d, score in zip(ranked, rng.permutation(len(ranked)), strict=True)}
    return lines, run


def as_qrels(lines: Lines) -> Qrels:
    return read_qrels(io.BytesIO("".join(f"{q} {t} {d} {grade}\n" for q, t, d, grade in lines).encode()))


@pytest.mark.parametrize("seed", range(10))
def test_every_metric_of_ndeval_is_the_same_to_6_digits(seed: int) -> None:
    lines, run = random_topics(seed)
    names = pyndeval.DEFAULT_MEASURES
    scored = [(q, d, score) for q, documents in run.items() for d, score in documents.items()]
    theirs = pyndeval.ndeval(lines, scored)
    ours = evaluate_run(as_qrels(lines), run, names, preset="ndeval")
    assert len(ours.query_ids) > 1
    for q, query in enumerate(ours.query_ids):
        for m, name in enumerate(names):
            value = theirs[query][name]
            if math.isnan(value):  # there nNRBP of a query without relevant documents
                assert (name, ours.values[m, q]) == ("nNRBP", 0.0)
            else:
                assert ours.values[m, q] == pytest.approx(value, abs=1e-6), (query, name)


def as_run(rows: list[tuple[str, str, float]], seed: int) -> Run:
    """The run of pyndeval's file: equal scores, ranks by score and then by id, lines in any order."""
    ranked = sorted(rows, key=lambda row: (row[0], -row[2], row[1]))
    first = {query: n for n, (query, _, _) in reversed(list(enumerate(ranked)))}
    lines = [f"{q} Q0 {d} {n - first[q] + 1} {score} x\n" for n, (q, d, score) in enumerate(ranked)]
    return read_run(io.BytesIO("".join(np.random.default_rng(seed).permutation(lines)).encode()))


@pytest.mark.parametrize("seed", range(10))
def test_documents_of_equal_score_are_in_the_order_of_the_rank_column(seed: int) -> None:
    lines, run = random_topics(seed)
    tied = [(q, d, float(score // 4)) for q, documents in run.items() for d, score in documents.items()]
    theirs = pyndeval.ndeval(lines, tied)
    ours = evaluate_run(as_qrels(lines), as_run(tied, seed), pyndeval.DEFAULT_MEASURES, preset="ndeval")
    expected = [[theirs[query][name] for query in ours.query_ids] for name in pyndeval.DEFAULT_MEASURES]
    np.testing.assert_allclose(ours.values, np.nan_to_num(expected), atol=1e-6)


def test_ir_measures_has_the_same_means_for_equal_scores() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    lines, run = random_topics(12)
    tied = [(q, d, float(score // 4)) for q, documents in run.items() for d, score in documents.items()]
    names = ["alpha_nDCG@10", "ERR_IA@10", "nERR_IA@10", "NRBP", "AP_IA", "P_IA@5", "StRecall@5"]
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name) for name in names],
        [ir_measures.Qrel(q, d, grade, t) for q, t, d, grade in lines],
        [ir_measures.ScoredDoc(*row) for row in tied],
    )
    qrels = [ir_measures.Qrel(q, d, grade, t) for q, t, d, grade in lines]  # the iteration is the topic
    ours = evaluate_run(qrels, as_run(tied, 0), names, preset="ndeval", all_queries=True)
    for name, row in zip(names, ours.values, strict=True):
        assert row.mean() == pytest.approx(theirs[ir_measures.parse_measure(name)], abs=1e-6), name


def test_ir_measures_has_the_same_means() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    lines, run = random_topics(11)
    qrels = [ir_measures.Qrel(q, d, grade, t) for q, t, d, grade in lines]
    names = ["alpha_nDCG@10", "alpha_DCG@20", "ERR_IA@10", "nERR_IA@10", "NRBP", "AP_IA", "P_IA@5", "StRecall@5"]
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in names], qrels, run)
    ours = evaluate_run(as_qrels(lines), run, names, preset="ndeval", all_queries=True).means()
    for (measure, value), mean in zip(
        sorted(theirs.items(), key=lambda item: names.index(str(item[0]))), ours.values(), strict=True
    ):
        assert mean.value == pytest.approx(value, abs=1e-6), measure
