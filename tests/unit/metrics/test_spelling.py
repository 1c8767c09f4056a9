"""Spellings: every common name of a measure reads as ours and prints in one form."""

from __future__ import annotations

import pytest

from podium.errors import ParameterError, UnknownNameError
from podium.metrics import Metric

SPELLINGS = {
    # ours
    "ndcg@10": "ndcg@10",
    "mean-ndcg": "mean-ndcg",
    "pair-accuracy": "pair-accuracy",
    "err@10[max_grade=4]": "err@10[max_grade=4]",
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
    "success_1": "wta",
    # ranx
    "precision@3": "p@3",
    "mrr": "mrr",
    "ndcg_burges@10": "ndcg@10",
    "ndcg@10-l2": "ndcg@10[floor=2]",
    "map@5-l2": "map@5[relevant=2]",
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
    "WTA": "wta",
    "Winner Takes All": "wta",
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
        ("bpref", "No metric 'bpref'"),
        ("success_5", "No metric"),
        ("ndcg@0", "from 1"),
        ("ndcg@-3", "No metric"),
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
        ("err[max_grade=0]", "max_grade must be from 1"),
        ("p@5[divisor=relevant]", "cutoff or list"),
        ("map@5[divisor=list]", "cutoff or relevant"),
        ("nDCG(judged_only=True)@10", "judged_only"),
        ("nDCG(rel=2)x", "after the bracket"),
        ("NDCG:top=ten", "a number"),
        ("NDCG:denominator=Position", "denominator=position"),
    ],
)
def test_what_is_not_understood_is_refused_in_words(text: str, message: str | None) -> None:
    if message is None:
        assert Metric.parse(text).convention.discount == "letor"
        return
    with pytest.raises(ParameterError, match=message.replace("[", r"\[")):
        Metric.parse(text)


def test_an_unknown_metric_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError) as refused:
        Metric.parse("mapp@3")
    assert refused.value.near == ["map"]


def test_what_does_not_concern_a_metric_does_not_distinguish_it() -> None:
    assert Metric.parse("map[gain=linear,max_grade=3]") == Metric.parse("map")
    assert Metric.parse("map[divisor=relevant]") == Metric.parse("map")


def test_the_tag_says_everything_that_matters() -> None:
    assert Metric.parse("ndcg@10").tag() == "ndcg@10[exp2,log2,ties=mean,empty=skip]"
    assert Metric.parse("map_cut_5").tag() == "map@5[relevant=1,divisor=relevant,ties=mean,empty=skip]"
    assert Metric.parse("err").tag() == "err[ties=mean,empty=skip,max_grade=none]"
