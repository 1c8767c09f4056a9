"""Every preset gives the number of the tool it is named after, on hundreds of random rankings.

The rankings have ties, short lists, grades, and queries where there is nothing to find. Tools that are not
installed are skipped; the extra `peers` installs them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from podium.evaluation.evaluate import evaluate_run
from podium.metrics import Metric, mean

pytestmark = pytest.mark.slow

EXACT = {"rel": 0, "abs": 1e-9}


@dataclass(frozen=True)
class Ranking:
    """Scores and labels of a few queries."""

    scores: np.ndarray
    labels: np.ndarray
    offsets: np.ndarray

    @property
    def query(self) -> np.ndarray:
        """The number of each row's query."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def ours(self, metric: str, preset: str | None = None) -> float:
        return mean(Metric.parse(metric, preset=preset)(self.scores, self.labels, self.offsets)).value


def rankings(count: int, *, grades: int = 5, seed: int = 0) -> list[Ranking]:
    """Random rankings; half of them with many ties; scores are exact in single precision."""
    rng, found = np.random.default_rng(seed), []
    for number in range(count):
        sizes = rng.integers(1, 15, size=rng.integers(1, 6))
        n = int(sizes.sum())
        labels = rng.integers(0, grades, n) * np.repeat(rng.random(len(sizes)) < 0.75, sizes)
        scores = rng.integers(-4, 4, n) / 4 if number % 2 else rng.normal(size=n).astype(np.float32).astype(float)
        found.append(Ranking(scores, labels.astype(float), np.concatenate([[0], np.cumsum(sizes)])))
    return found


def test_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    params = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 3, 10], "verbose": -1}
    for ranking in rankings(200):
        data = lightgbm.Dataset(
            np.zeros((len(ranking.scores), 1)),
            label=ranking.labels,
            group=np.diff(ranking.offsets),
            init_score=ranking.scores,  # before the first tree, these are the scores
            params={"verbose": -1, "num_threads": 1},
        )
        values = lightgbm.Booster({**params, "num_threads": 1}, data).eval_train()
        assert len(values) == 6
        for _, metric, value, _ in values:
            assert ranking.ours(metric, "lightgbm") == pytest.approx(value, **EXACT), metric


@pytest.mark.parametrize(
    ("grades", "changes", "metrics"),
    [
        (5, "", ["ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "ndcg@3-"]),
        (5, "gain=linear", ["ndcg", "ndcg@3"]),
        (2, "", ["map", "map@3", "map@10-", "pre", "pre@3", "pre@10"]),
    ],
)
def test_xgboost(grades: int, changes: str, metrics: list[str]) -> None:
    xgboost = pytest.importorskip("xgboost")
    params = {"objective": "rank:ndcg", "eval_metric": metrics, "nthread": 1, "ndcg_exp_gain": changes == ""}
    cases = rankings(200, grades=grades)
    cases[0] = long_list(grades)  # where the default cut-off of 32 shows
    rng = np.random.default_rng(1)
    close = [1 + 1e-8 * rng.normal(size=50) for _ in range(20)]  # tied in single precision, which it compares in
    cases += [Ranking(scores, cases[0].labels, cases[0].offsets) for scores in close]
    named = [(xgboost_data(ranking), str(number)) for number, ranking in enumerate(cases)]
    line = xgboost.Booster(params, [named[0][0]]).eval_set(named)  # before the first tree, base_margin is the score
    values = dict(part.rsplit(":", 1) for part in line.split("\t")[1:])
    assert len(values) == len(cases) * len(metrics)
    for name, value in values.items():
        number, metric = name.split("-", 1)
        ours = cases[int(number)].ours(f"{metric}[xgboost{',' if changes else ''}{changes}]")
        assert ours == pytest.approx(float(value), **EXACT), metric


def xgboost_data(ranking: Ranking) -> Any:
    import xgboost

    rows = np.zeros((len(ranking.scores), 1))
    return xgboost.DMatrix(rows, label=ranking.labels, base_margin=ranking.scores, qid=ranking.query, nthread=1)


CATBOOST = (
    "NDCG",
    "NDCG:top=3",
    "NDCG:top=10;type=Exp",
    "DCG:top=3",
    "MAP",
    "MAP:top=2",
    "PrecisionAt",
    "PrecisionAt:top=3",
    "RecallAt:top=3",
    "MRR",
    "MRR:top=2",
    "NDCG:type=Exp;denominator=Position",
    "QueryAverage:top=2",
)


def test_catboost() -> None:
    tool = pytest.importorskip("catboost.utils")
    for ranking in rankings(200):
        for metric in CATBOOST:
            values = tool.eval_metric(ranking.labels, ranking.scores, metric, group_id=ranking.query, thread_count=1)
            assert ranking.ours(metric, "catboost") == pytest.approx(values[0], **EXACT), metric


def test_catboost_of_labels_that_are_probabilities() -> None:
    tool = pytest.importorskip("catboost.utils")
    for number, ranking in enumerate(rankings(100)):
        labels = ranking.labels / (4 if number % 2 else 8)
        for metric in ("PFound", "PFound:top=2", "PFound:decay=0.5"):
            theirs = tool.eval_metric(labels, ranking.scores, metric, group_id=ranking.query, thread_count=1)
            ours = Ranking(ranking.scores, labels, ranking.offsets).ours(metric, "catboost")
            assert ours == pytest.approx(theirs[0], rel=0, abs=1e-7), metric  # labels are single there


def test_sklearn_of_how_far_to_read() -> None:
    tool = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    labels, scores = rng.random((100, 12)) < 0.2, rng.integers(0, 6, (100, 12))
    ranking = Ranking(scores.ravel(), labels.ravel().astype(float), np.arange(0, 1201, 12))
    ours = ranking.ours("coverage_error[sklearn,ties=worst]")
    assert ours == pytest.approx(tool.coverage_error(labels, scores), **EXACT)


def test_sklearn() -> None:
    tool = pytest.importorskip("sklearn.metrics")
    checked = 0
    for ranking in rankings(200):
        for a, b in zip(ranking.offsets[:-1], ranking.offsets[1:], strict=True):
            if b - a == 1:
                continue  # refused there
            one = Ranking(ranking.scores[a:b], ranking.labels[a:b], np.array([0, b - a]))
            for k in (1, 3, None):
                at = "" if k is None else f"@{k}"
                arrays = [one.labels], [one.scores]
                assert one.ours(f"ndcg{at}", "sklearn") == pytest.approx(tool.ndcg_score(*arrays, k=k), **EXACT)
                assert one.ours(f"dcg{at}", "sklearn") == pytest.approx(tool.dcg_score(*arrays, k=k), **EXACT)
            checked += 1
    assert checked > 400


@dataclass(frozen=True)
class Pool:
    """A ranking whose documents have ids; some are not judged, and some that are judged it misses."""

    ranking: Ranking
    ids: list[str]
    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]

    def ours(self, metric: str, preset: str, **options: Any) -> dict[str, float]:
        """The value of each query, by name."""
        found = evaluate_run(self.qrels, self.run, metric, preset=preset, **options)
        return dict(zip(found.query_ids, found.values[0].tolist(), strict=True))


def pools(count: int, *, seed: int, tied: bool = True, precise: bool = False) -> list[Pool]:
    """Random pools; grades from −1; with `precise` scores that are equal or not in single precision only."""
    rng, found = np.random.default_rng(seed), []
    for one in rankings(count, seed=seed):
        n = len(one.scores)
        ids = [f"d{k}" for k in rng.permutation(n)]
        scores = one.scores if tied else rng.permutation(n) / 4
        scores = 1 + 1e-8 * rng.normal(size=n) if precise else scores
        labels = np.where(rng.random(n) < 0.1, -1.0, one.labels)
        unjudged = rng.random(n) < 0.2
        qrels, run = {}, {}
        for q, (a, b) in enumerate(zip(one.offsets[:-1], one.offsets[1:], strict=True)):
            known = {ids[k]: int(labels[k]) for k in range(a, b) if not unjudged[k]}
            missed = {f"x{k}": int(rng.integers(0, 4)) for k in range(rng.integers(0, 4))}
            qrels[f"q{q}"] = {**known, **missed} or {"x": 0}
            run[f"q{q}"] = dict(zip(ids[a:b], scores[a:b].tolist(), strict=True))
        labels = np.where(unjudged, 0.0, labels)
        found.append(Pool(Ranking(scores, labels, one.offsets), ids, qrels, run))
    return found


TREC_EVAL = {
    "ndcg", "map", "recip_rank", "ndcg_cut.1,3", "map_cut.3", "P.3,10", "recall.3", "success.1,3,10", "Rprec", "bpref",
    "gm_map", "iprec_at_recall", "11pt_avg", "set_P", "set_recall", "set_F", "set_map", "set_relative_P", "infAP",
    "num_q", "num_ret", "num_rel", "num_rel_ret", "gm_bpref", "relative_P.3,10", "Rprec_mult", "num_nonrel_judged_ret",
}  # fmt: skip


@pytest.mark.parametrize("precise", [False, True], ids=["scores exact in float32", "scores that float32 ties"])
def test_trec_eval(precise: bool) -> None:
    tool = pytest.importorskip("pytrec_eval")
    for pool in pools(150, seed=2, precise=precise):
        theirs = tool.RelevanceEvaluator(pool.qrels, TREC_EVAL).evaluate(pool.run)
        assert len(theirs["q0"]) == 51
        for metric in theirs["q0"]:
            expected = {query: values[metric] for query, values in theirs.items()}
            assert pool.ours(metric, "trec") == pytest.approx(expected, **EXACT), metric


def test_trec_eval_of_the_set_f_with_a_weight() -> None:
    tool = pytest.importorskip("pytrec_eval")
    for pool in pools(40, seed=12):
        theirs = tool.RelevanceEvaluator(pool.qrels, {"set_F.2.5"}).evaluate(pool.run)
        expected = {query: values["set_F"] for query, values in theirs.items()}
        assert pool.ours("set_F.2.5", "trec") == pytest.approx(expected, **EXACT)


def test_trec_eval_of_judged_documents_only() -> None:
    tool = pytest.importorskip("pytrec_eval")
    for pool in pools(60, seed=8):
        theirs = tool.RelevanceEvaluator(pool.qrels, TREC_EVAL, judged_docs_only_flag=True).evaluate(pool.run)
        for metric in theirs["q0"]:
            expected = {query: np.nan_to_num(values[metric]) for query, values in theirs.items()}  # 0/0 of empty lists
            assert pool.ours(metric, "trec", judged_only=True) == pytest.approx(expected, **EXACT), metric


def test_trec_eval_of_so_many_documents_per_query() -> None:
    """trec_eval's -M, which pytrec_eval does not have: it is given runs that are cut already."""
    tool = pytest.importorskip("pytrec_eval")
    for pool in pools(60, seed=9, precise=True):
        cut = {
            query: dict(sorted(scores.items(), key=lambda one: (np.float32(one[1]), one[0]), reverse=True)[:4])
            for query, scores in pool.run.items()
        }
        theirs = tool.RelevanceEvaluator(pool.qrels, TREC_EVAL).evaluate(cut)
        for metric in theirs["q0"]:
            expected = {query: values[metric] for query, values in theirs.items()}
            assert pool.ours(metric, "trec", max_documents=4) == pytest.approx(expected, **EXACT), metric


def test_rbp_and_success_of_ranx_where_grades_are_binary() -> None:
    pools_of_two = [binary(pool) for pool in pools(60, seed=11, tied=False)]
    metrics = ("rbp.95", "rbp.50", "hit_rate@3", "r-precision")
    answers = ask_ranx([{"qrels": pool.qrels, "run": pool.run} for pool in pools_of_two], metrics)
    ours = dict(zip(metrics, ("rbp.95", "rbp.50", "success@3", "r-precision"), strict=True))
    for pool, theirs in zip(pools_of_two, answers, strict=True):
        for metric in metrics:
            assert pool.ours(ours[metric], "ranx") == pytest.approx(theirs[metric], **EXACT), metric


def binary(pool: Pool) -> Pool:
    qrels = {query: {doc: int(grade >= 1) for doc, grade in grades.items()} for query, grades in pool.qrels.items()}
    return Pool(pool.ranking, pool.ids, qrels, pool.run)


def test_trec_eval_at_a_higher_level_of_relevance() -> None:
    tool = pytest.importorskip("pytrec_eval")
    for pool in pools(60, seed=3):
        theirs = tool.RelevanceEvaluator(pool.qrels, {"map", "P.3", "recip_rank"}, relevance_level=2).evaluate(pool.run)
        for metric in theirs["q0"]:
            expected = {query: values[metric] for query, values in theirs.items()}
            assert pool.ours(f"{metric}[trec,relevant=2]", "trec") == pytest.approx(expected, **EXACT), metric


IR_MEASURES = ("nDCG", "nDCG@3", "AP", "AP(rel=2)", "P@3", "P(rel=2)@10", "R@3", "RR", "NumRet(rel=2)")


def test_ir_measures() -> None:
    pytest.importorskip("pytrec_eval")
    tool = pytest.importorskip("ir_measures")
    measures = {tool.parse_measure(text): text for text in IR_MEASURES} | {tool.parse_measure("AP@3"): "map_cut_3"}
    for pool in pools(60, seed=4):
        ours = {text: pool.ours(text, "trec") for text in measures.values()}
        values = list(tool.iter_calc(list(measures), pool.qrels, pool.run))
        assert len(values) == len(measures) * len(pool.qrels)
        for found in values:
            assert ours[measures[found.measure]][found.query_id] == pytest.approx(found.value, **EXACT), found.measure


USER_MODELS = (
    "Compat(p=0.95)", "Compat(p=0.6)", "INSQ(T=1.0,max_rel=4)", "INST(T=2.0,max_rel=4)", "BPM(T=1.0,max_rel=4)@3",
    "BPM(T=0.5,max_rel=4)@10", "SDCG(dcg='log2',max_rel=4)@3", "RBP(rel=1,p=0.9)", "Judged@3",
)  # fmt: skip


def test_user_models_of_ir_measures_where_no_scores_are_equal() -> None:
    """Some of them by cwl_eval, which is skipped if it is not installed; documents have grades from 0."""
    tool = pytest.importorskip("ir_measures")
    alone = importlib.util.find_spec("cwl") is None
    names = [name for name in USER_MODELS if not alone or name.startswith(("Compat", "Judged"))]
    measures = {tool.parse_measure(text): text for text in names}
    for pool in pools(60, seed=13, tied=False):
        qrels = {query: {d: max(grade, 0) for d, grade in grades.items()} for query, grades in pool.qrels.items()}
        graded = Pool(pool.ranking, pool.ids, qrels, pool.run)
        ours = {text: graded.ours(text.replace(",max_rel", ",min_rel=0,max_rel"), "trec") for text in names}
        for found in tool.iter_calc(list(measures), qrels, pool.run):
            text = measures[found.measure]
            assert ours[text][found.query_id] == pytest.approx(found.value, **EXACT), text


@pytest.mark.parametrize("metric", ["nDCG(dcg='exp-log2')@3", "nDCG(dcg='exp-log2')@10", "ERR@3", "ERR@20"])
def test_gdeval(metric: str) -> None:
    """As ir_measures runs it: rounded to five decimals, and 0 where gdeval skips the query."""
    tool = pytest.importorskip("ir_measures")
    if shutil.which("perl") is None:
        pytest.skip("gdeval is a Perl script, and there is no perl")
    qrels, run, ours = {}, {}, {}
    for number, pool in enumerate(pools(150, seed=7)):
        topics = {query: str(100 * number + k) for k, query in enumerate(pool.qrels)}  # it takes numbers only
        qrels |= {topics[query]: grades for query, grades in pool.qrels.items()}
        run |= {topics[query]: scores for query, scores in pool.run.items()}
        ours |= {topics[query]: value for query, value in pool.ours(metric, "gdeval").items()}
    theirs = {found.query_id: found.value for found in tool.iter_calc([tool.parse_measure(metric)], qrels, run)}
    assert sum(np.isnan(list(ours.values()))) > 10
    assert {query: np.nan_to_num(value) for query, value in ours.items()} == pytest.approx(theirs, rel=0, abs=5.1e-6)


RANX = (
    "f1",
    "f1@3",
    "hits",
    "hits@3",
    "ndcg",
    "ndcg@3",
    "ndcg_burges",
    "ndcg_burges@3",
    "map",
    "map@3",
    "mrr",
    "mrr@2",
    "precision@3",
    "recall@3",
    "map@3-l2",
    "precision@3-l2",
    "ndcg@3-l2",
)


def test_ranx_where_no_scores_are_equal() -> None:
    """Equal scores have no order there that could be relied on."""
    cases = pools(100, seed=5, tied=False)
    answers = ask_ranx([{"qrels": pool.qrels, "run": pool.run} for pool in cases])
    for pool, theirs in zip(cases, answers, strict=True):
        for metric in RANX:
            assert pool.ours(metric, "ranx") == pytest.approx(theirs[metric], **EXACT), metric


def ask_ranx(cases: list[dict[str, Any]], metrics: tuple[str, ...] = RANX) -> list[dict[str, dict[str, float]]]:
    """What ranx says of each case: metric → query → value. Uncompiled: compiling it takes minutes."""
    program = (
        "import json, sys, ranx\n"
        "cases, metrics = json.load(sys.stdin)\n"
        "answers = []\n"
        "for case in cases:\n"
        "    run = ranx.Run(case['run'])\n"
        "    ranx.evaluate(ranx.Qrels(case['qrels']), run, metrics)\n"
        "    answers.append({m: {q: float(v) for q, v in values.items()} for m, values in run.scores.items()})\n"
        "json.dump(answers, sys.stdout)\n"
    )
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("could not import 'ranx'")
    found = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([cases, metrics]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(found.stdout)


def long_list(grades: int) -> Ranking:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, grades, 50).astype(float)
    return Ranking(np.arange(50) / 4, labels, np.array([0, 50]))
