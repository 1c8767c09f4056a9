"""Judgments and runs come from the tools themselves: their objects, their frames and the files that they write."""

import pytest

from podium.evaluation.compare_runs import compare_runs
from podium.evaluation.evaluate import evaluate_run
from podium.formats import read_qrels, read_run
from podium.formats.trec.trec import as_qrels, as_run
from reference.nested import nested

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
GRADES = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1, "e": 3}}
SCORES = {"q1": {"b": 3.5, "a": 2.0, "x": 1.5}, "q2": {"e": 0.5, "d": 0.25}}
OTHER = {"q1": {"a": 3.5, "c": 2.0}, "q2": {"d": 0.5, "e": 0.25}}


@pytest.mark.parametrize("ending", ["json", "parquet", "trec"])
def test_files_of_ranx_are_read(ending, tmp_path):
    ranx = pytest.importorskip("ranx")
    ranx.Qrels(GRADES).save(str(tmp_path / f"qrels.{ending}"))
    ranx.Run(SCORES, name="mine").save(str(tmp_path / f"run.{ending}"))
    assert nested(read_qrels(tmp_path / f"qrels.{ending}")) == GRADES
    assert nested(read_run(tmp_path / f"run.{ending}")) == SCORES


def test_objects_of_ranx_give_the_numbers_of_ranx():
    ranx = pytest.importorskip("ranx")
    qrels, run = ranx.Qrels(GRADES), ranx.Run(SCORES, name="mine")
    values = evaluate_run(qrels, run, ["ndcg@10", "map"], preset="ranx").means()
    expected = ranx.evaluate(qrels, run, ["ndcg@10", "map"])
    assert {name: average.value for name, average in values.items()} == pytest.approx(
        {f"{name}[ranx]" if f"{name}[ranx]" in values else name: value for name, value in expected.items()}
    )
    tests = compare_runs(qrels, {"one": run, "two": ranx.Run(OTHER)}, "mrr")
    assert {name: system.mean for name, system in tests["mrr"].systems.items()} == {"two": 1.0, "one": 0.75}


def test_what_ir_measures_takes_gives_its_numbers(tmp_path):
    ir_measures = pytest.importorskip("ir_measures")
    import pandas as pd

    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, g_of in GRADES.items() for d, g in g_of.items()))
    (tmp_path / "run").write_text(
        "".join(f"{q} Q0 {d} 1 {s} t\n" for q, s_of in SCORES.items() for d, s in s_of.items())
    )
    metric = ir_measures.nDCG @ 10
    expected = ir_measures.calc_aggregate([metric], GRADES, SCORES)[metric]
    for form in (list, iter, pd.DataFrame):
        qrels = form(ir_measures.read_trec_qrels(str(tmp_path / "qrels")))
        run = form(ir_measures.read_trec_run(str(tmp_path / "run")))
        (average,) = evaluate_run(qrels, run, [metric], preset="trec").means().values()
        assert average.value == pytest.approx(expected)


def test_judgments_of_ir_datasets_are_read():
    formats = pytest.importorskip("ir_datasets.formats")
    rows = [formats.TrecQrel(q, d, g, "0") for q, grades in GRADES.items() for d, g in grades.items()]
    assert nested(as_qrels(rows)) == GRADES


def test_frames_and_files_of_pyterrier_are_read(tmp_path):
    pt = pytest.importorskip("pyterrier")
    results = pt.new.ranked_documents([[2.0, 1.0], [3.0]])
    expected = {"1": {"d1": 2.0, "d2": 1.0}, "2": {"d1": 3.0}}
    assert nested(as_run(results)) == expected
    pt.io.write_results(results, str(tmp_path / "run.gz"), format="trec")
    assert nested(read_run(tmp_path / "run.gz")) == expected
    assert nested(as_run(pt.io.read_results(str(tmp_path / "run.gz")))) == expected
    (tmp_path / "qrels").write_text("1 0 d1 2\n2 0 d1 1\n")
    assert nested(as_qrels(pt.io.read_qrels(str(tmp_path / "qrels")))) == {"1": {"d1": 2}, "2": {"d1": 1}}
