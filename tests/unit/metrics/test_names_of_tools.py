"""Metrics by the names that other tools have for them: what each becomes, and what is said of those not here."""

import re

import pytest

from podium.base.errors import ParameterError, UnknownNameError
from podium.evaluation.evaluate import evaluate_run
from podium.metrics import Metric
from podium.metrics.conventions import PRESETS
from podium.metrics.other_tools import INSTEAD, other_convention

TOOLS = {
    "trec_eval": {
        "ndcg": "ndcg", "ndcg_cut_10": "ndcg@10", "map": "map", "map_cut_100": "map@100[divisor=relevant]",
        "P_5": "p@5", "recall_100": "recall@100", "recip_rank": "mrr", "Rprec": "r-precision", "bpref": "bpref",
        "success_10": "success@10", "set_F": "f", "gm_map": "gm-map", "num_rel_ret": "num-rel-ret",
        "iprec_at_recall_0.10": "iprec(recall=0.1)", "11pt_avg": "11pt-avg", "infAP": "inf-ap",
        "gm_bpref": "gm-bpref", "relative_P_5": "relative-precision@5", "set_relative_P": "relative-precision",
        "Rprec_mult_0.20": "r-precision(times=0.2)", "num_nonrel_judged_ret": "num-nonrel-judged-ret",
    },
    "PyTerrier": {"ndcg_cut.10": "ndcg@10", "P.10": "p@10", "recip_rank": "mrr", "map": "map", "num_q": "num-q"},
    "ir_measures": {
        "nDCG@10": "ndcg@10", "nDCG(dcg='log2')@10": "ndcg@10[gain=linear]", "AP(rel=2)@100": "map@100[relevant=2]",
        "RR@10": "mrr@10", "R@100": "recall@100", "Success@1": "success@1", "SetF": "f",
        "SetF(beta=2)": "f(weight=4.0)", "RBP(p=0.9)": "rbp(p=0.9)", "IPrec@0.1": "iprec(recall=0.1)",
        "NumRelRet": "num-rel-ret", "ERR@20": "err@20", "Bpref": "bpref", "NumRet(rel=1)": "num-rel-ret",
        "NumRet(rel=2)": "num-rel-ret[mslr]", "Judged@10": "judged@10", "Accuracy": "pair-accuracy",
        "Compat(p=0.8)": "compat(p=0.8)", "Compat(normalize=True)": "compat",
        "SDCG(max_rel=3)@10": "sdcg(max_grade=3)@10",
        "INST(T=2,min_rel=0,max_rel=3)": "inst(t=2.0,max_grade=3.0)", "INSQ(max_rel=3)": "insq(max_grade=3.0)",
        "BPM(T=1,max_rel=3)@10": "bpm(max_grade=3.0)@10",
    },
    "TF-Ranking": {"ordered_pair_accuracy": "pair-accuracy", "opa": "pair-accuracy", "arp": "arp"},
    "ranx": {
        "hit_rate@10": "success@10", "f1@10": "f@10", "hits@10": "hits@10",
        "f1": "f", "precision@5": "p@5", "r_precision": "r-precision",
        "rbp.95": "rbp(p=0.95)", "ndcg_burges@10": "ndcg@10", "map@5-l2": "map@5[relevant=2]", "dcg": "dcg",
    },
    "LightGBM": {"ndcg@5": "ndcg@5", "map@5": "map@5", "lambdarank": "ndcg", "rank_xendcg": "ndcg",
                 "mean_average_precision": "map"},
    "XGBoost": {"ndcg@10-": "ndcg@10[empty=zero]", "map@5": "map@5", "pre@5": "p@5"},
    "CatBoost": {"NDCG:top=10;type=Base": "ndcg@10[gain=linear]", "PrecisionAt:top=5": "p@5", "MRR": "mrr",
                 "RecallAt:top=5": "recall@5", "PairAccuracy": "pair-accuracy",
                 "PFound:decay=0.9;top=5": "pfound(decay=0.9)@5", "QueryAverage:top=2": "mean-label@2",
                 "NDCG:type=Exp;denominator=Position": "ndcg[discount=position]"},
    "RankLib": {"NDCG@10": "ndcg@10", "RR@10": "mrr@10", "ERR@10": "err@10", "MAP": "map", "DCG@10": "dcg@10",
                "BEST@10": "best@10"},
    "scikit-learn": {"ndcg_score": "ndcg[gain=linear]", "dcg_score": "dcg[gain=linear]",
                     "average_precision_score": "map", "label_ranking_average_precision_score": "map"},
    "evaluation of RAG": {"hit@5": "success@5", "HR@5": "success@5",
                          "HitRate@3": "success@3", "MRR@5": "mrr@5"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "spelling", "name"), [(tool, *pair) for tool, names in TOOLS.items() for pair in names.items()]
)
def test_a_tools_name_becomes_ours(tool, spelling, name):
    assert str(Metric.parse(spelling)) == name


@pytest.mark.parametrize(
    ("spelling", "hint"),
    [
        ("auc", "pair-accuracy is the AUC within each query"),
        ("QueryAUC", "pair-accuracy"),
        ("NERR8@10", "nerr@k is ERR over its best value"),
    ],
)
def test_a_metric_that_is_not_here_is_refused_with_what_to_use_instead(spelling, hint):
    with pytest.raises(UnknownNameError, match=re.escape(hint)):
        Metric.parse(spelling)


@pytest.mark.parametrize("name", ["pair-accuracy", "err@10", "nerr@10", "rbp"])
def test_what_is_suggested_instead_exists(name):
    assert str(Metric.parse(name)) == name
    assert any(name.partition("@")[0] in hint for hint in INSTEAD.values())


@pytest.mark.parametrize(
    ("spelling", "hint"),
    [
        ("P(judged_only=True)@5", "--judged-only"),
        ("nDCG(gains={0:0,1:1})@10", "ndcg@10[gain=[0,1,3]]"),
    ],
)
def test_what_is_said_elsewhere_in_podium_is_named(spelling, hint):
    with pytest.raises(ParameterError, match=re.escape(hint)):
        Metric.parse(spelling)


def test_f1_of_the_first_documents_is_that_of_precision_and_recall():
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3, "x": 2, "b": 1}}
    precision, recall = 1 / 2, 1 / 3
    for name, options in (("f1@2", {}), ("f1", {"max_documents": 2})):
        (average,) = evaluate_run(qrels, run, name, **options).means().values()
        assert average.value == pytest.approx(2 * precision * recall / (precision + recall))


@pytest.mark.parametrize(
    ("spelling", "preset"),
    [
        ("ndcg_cut_10", "trec"), ("P_5", "trec"), ("recip_rank", "trec"), ("nDCG@10", "trec"), ("hit_rate@5", "ranx"),
        ("pre@5", "xgboost"), ("ndcg@10-", "xgboost"), ("NDCG:top=10", "catboost"), ("ndcg_score", "sklearn"),
        ("rank_xendcg", "lightgbm"),
    ],
)  # fmt: skip
def test_a_spelling_of_one_tool_names_the_preset_that_gives_its_number(spelling, preset):
    hint = other_convention(spelling)
    assert hint is not None
    assert hint.endswith(f"--preset {preset}")
    assert preset in PRESETS


@pytest.mark.parametrize("spelling", ["ndcg@10", "NDCG@10", "map", "p@5", "mrr", "ndcg_cut_10[trec]", "ndcg_cut_" * 99])
def test_a_spelling_of_several_tools_or_with_its_convention_names_none(spelling):
    assert other_convention(spelling) is None
