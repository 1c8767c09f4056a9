"""Spellings: every common name of a measure reads as ours and prints in one form."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from podium.base.errors import ParameterError, UnknownNameError
from podium.metrics import Metric

SPELLINGS = {
    # ours
    "ndcg@10": "ndcg@10",
    "mean-ndcg": "mean-ndcg",
    "pair-accuracy": "pair-accuracy",
    "err(max_grade=4)@10": "err(max_grade=4)@10",
    "rbp(p=0.9)": "rbp(p=0.9)",
    "rbp(p=0.9)@10": "rbp(p=0.9)@10",
    "rbp(p=0.8)@10": "rbp@10",
    "iprec(recall=0.2)[trec10]": "iprec(recall=0.2)[trec10]",
    "ndcg@10[gain=linear]": "ndcg@10[gain=linear]",
    "ndcg@10[linear,log2,ties=input]": "ndcg@10[gain=linear,ties=input]",
    "ndcg@10[exp2,log2,ties=mean,empty=skip]": "ndcg@10",
    "ndcg[gain=[0,1,3]]": "ndcg[gain=[0,1,3]]",
    " ndcg@10 [ letor3 , ties=mean ] ": "ndcg@10[gain=[0,1,3],discount=letor,empty=zero,short=zero,ideal=list]",
    # trec_eval
    "ndcg": "ndcg",
    "ndcg_cut_10": "ndcg@10",
    "ndcg_cut.10": "ndcg@10",
    "map": "map",
    "map_cut_10": "map@10[divisor=relevant]",
    "P_10": "p@10",
    "P.10": "p@10",
    "recall_100": "recall@100",
    "recip_rank": "mrr",
    "success_1": "success@1",
    "Rprec": "r-precision",
    "bpref": "bpref",
    "gm_map": "gm-map",
    "iprec_at_recall_0.10": "iprec(recall=0.1)",
    "iprec_at_recall.0.10": "iprec(recall=0.1)",
    "iprec_at_recall_1.00": "iprec(recall=1.0)",
    "11pt_avg": "11pt-avg",
    "11-pt_avg": "11pt-avg",
    "set_P": "p",
    "set_recall": "recall",
    "set_F": "f",
    "set_F.2": "f(weight=2.0)",
    "set_F_0.5": "f(weight=0.5)",
    "set_map": "set-map",
    "set_relative_P": "relative-precision",
    "infAP": "inf-ap",
    "num_q": "num-q",
    "num_rel_ret": "num-rel-ret",
    "unj_10": "unjudged@10",
    # ranx
    "precision@3": "p@3",
    "mrr": "mrr",
    "ndcg_burges@10": "ndcg@10",
    "ndcg@10-l2": "ndcg@10[floor=2]",
    "map@5-l2": "map@5[relevant=2]",
    "rbp.95": "rbp(p=0.95)",
    "rbp.95-l2": "rbp(p=0.95)[relevant=2]",
    # XGBoost and LightGBM
    "ndcg@10-": "ndcg@10[empty=zero]",
    "map@10": "map@10",
    "pre@10": "p@10",
    # ir_measures and PyTerrier
    "nDCG@10": "ndcg@10",
    "AP(rel=2)@100": "map@100[relevant=2]",
    "RR@10": "mrr@10",
    "P@5": "p@5",
    "R@5": "recall@5",
    "RBP(p=0.9)@10": "rbp(p=0.9)@10",
    "RBP(p=0.9,rel=2)": "rbp(p=0.9)[relevant=2]",
    "Success@5": "success@5",
    "IPrec@0.1": "iprec(recall=0.1)",
    "SetP": "p",
    "NumRet": "num-ret",
    "AP": "map",
    "nDCG(dcg='exp-log2')@20": "ndcg@20",
    "nDCG(dcg='log2')@20": "ndcg@20[gain=linear]",
    # RankLib
    "NDCG@10": "ndcg@10",
    "ERR@10": "err@10",
    "MAP": "map",
    "DCG@10": "dcg@10",
    # CatBoost
    "NDCG:top=10;type=Exp": "ndcg@10",
    "NDCG:top=10;type=Base": "ndcg@10[gain=linear]",
    "NDCG:top=-1": "ndcg",
    "PrecisionAt:top=5": "p@5",
    "RecallAt:top=3": "recall@3",
    "MRR:top=10": "mrr@10",
    "MAP:top=10": "map@10",
    "PairAccuracy": "pair-accuracy",
    # LETOR scripts and the literature
    "MeanNDCG": "mean-ndcg",
    "WTA": "success@1",
    "Winner Takes All": "success@1",
    "Kendall's tau": "kendall",
    "kendall_tau": "kendall",
    "tau-b": "kendall",
}


@pytest.mark.parametrize(("text", "canonical"), SPELLINGS.items())
def test_a_spelling_reads_as_ours(text: str, canonical: str) -> None:
    metric = Metric.parse(text)
    assert repr(metric) == canonical
    assert Metric.parse(canonical) == metric


def test_a_border_is_exclusive_as_in_catboost() -> None:
    metric = Metric.parse("PrecisionAt:top=2;border=1")
    assert metric([2, 1], [1, 1.5], [0, 2])[0] == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "Did you mean 'ndcg'"),
        ("", "No metric"),
        ("ndcg@ten", "the cut-off after @ must be a whole number from 1, as in ndcg@10; got 'ten'"),
        ("ndcg@10.5", "whole number"),
        ("wta@5", "means a cut-off of 1"),
        ("rbp(p=1)", "below 1"),
        ("rbp(q=0.5)", "known: p, graded, max_grade, rel, cutoff"),
        ("NumQ(rel=1)", "rel=1 is not understood"),
        ("bpref@10", "whole list"),
        ("ndcg@0", "from 1"),
        ("ndcg@-3", "whole number from 1"),
        ("ndcg_cut", "ndcg@10"),
        ("kendall@5", "whole list"),
        ("ndcg@10[", "not closed"),
        ("ndcg@10[ties=random]", "mean, input, worst, best, docno"),
        ("ndcg@10[tie=mean]", "Did you mean 'ties'"),
        ("ndcg@10[letor]", None),
        ("ndcg@10[letor5]", "Did you mean 'letor"),
        ("ndcg@10[gain=[3,1]]", "must rise"),
        ("ndcg@10[gain=[0,nan]]", "must rise"),
        ("ndcg@10[gain=cubic]", "exp2, linear"),
        ("p@10[relevant=nan]", "finite"),
        ("p@10[relevant=high]", "a number"),
        ("err(max_grade=0)", "max_grade must be at least 1"),
        ("err[max_grade=4]", "max_grade"),
        ("p@5[divisor=relevant]", "cutoff or list"),
        ("map@5[divisor=list]", "cutoff or relevant"),
        ("nDCG(judged_only=True)@10", "judged_only"),
        ("nDCG(rel=2)x", "after the bracket"),
        ("NDCG:top=ten", "a number"),
        ("NDCG:denominator=Square", "denominator=square"),
    ],
)
def test_what_is_not_understood_is_refused_in_words(text: str, message: str | None) -> None:
    if message is None:
        assert Metric.parse(text).convention.discount == "letor"
        return
    with pytest.raises(ParameterError, match=re.escape(message)):
        Metric.parse(text)


def test_an_unknown_metric_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError) as refused:
        Metric.parse("mapp@3")
    assert refused.value.near == ["map", "gmap", "map-ia"]


@pytest.mark.parametrize(
    ("wrong", "near"), [("ndgc", ["ndcg"]), ("recip_rnk", ["recip_rank"]), ("kendal", ["kendall"])]
)
def test_a_suggestion_names_each_metric_once_in_the_nearest_spelling(wrong: str, near: list[str]) -> None:
    with pytest.raises(UnknownNameError) as refused:
        Metric.parse(wrong)
    assert refused.value.near == near


def test_what_does_not_concern_a_metric_does_not_distinguish_it() -> None:
    assert Metric.parse("map[gain=linear,floor=0]") == Metric.parse("map")
    assert Metric.parse("map[divisor=relevant]") == Metric.parse("map")


def test_the_tag_says_everything_that_matters() -> None:
    assert Metric.parse("ndcg@10").tag() == "ndcg@10[exp2,log2,ties=mean,empty=skip]"
    assert Metric.parse("map_cut_5").tag() == "map@5[relevant=1,divisor=relevant,ties=mean,empty=skip]"
    assert Metric.parse("err").tag() == "err(max_grade=none)[ties=mean,empty=skip]"
    assert Metric.parse("num_ret").tag() == "num-ret"


def test_the_plain_name_of_a_metric_imports_its_file_alone():
    code = "import sys; from podium.metrics import Metric; Metric.parse('ndcg@10'); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "podium.metrics.ndcg" in modules
    assert "podium.metrics.err" not in modules


@pytest.mark.parametrize("name", ["ndcg", "rr"])  # a file's name, and another spelling
def test_a_name_that_a_script_claims_too_is_an_error(name):
    code = f"""
from podium.base.registry import register
from podium.metrics import Metric
from podium.metrics.declaration import Names, stating
@register
class Other(Metric):
    names = Names(stating({name!r}))
Metric.parse({name!r})
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"Two metrics are called {name!r}" in process.stderr
