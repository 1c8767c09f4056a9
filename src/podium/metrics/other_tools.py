"""Metrics of other tools: which preset gives a tool's number, and what to use for those that podium does not have.

>>> other_convention("ndcg_cut_10")
'as trec_eval computes it: --preset trec'
>>> other_convention("ndcg@10") is None
True
"""

from __future__ import annotations

import re

INSTEAD = {
    "auc": "pair-accuracy is the AUC within each query if labels are 0 and 1; evaluate --curve and "
    "podium.evaluation.curves.recall_curve.auc have that over the documents of all queries.",
    "nerr8": "nerr@k is ERR over its best value; err@k and rbp are models of a user too.",
    "rndcg": "ndcg@k with a cut-off.",
}
"""What there is instead of a metric that podium does not have, by its name in another tool."""
_SAME = {
    "queryauc": "auc", "roc_auc": "auc", "roc_auc_score": "auc", "nerr9": "nerr8", "nerr10": "nerr8", "nerr11": "nerr8",
}  # fmt: skip

_TREC = re.compile(
    r"(ndcg|map)_cut[_.].*|(p|recall|success|map|ndcg|iprec_at_recall|set_f|relative_p|rprec_mult)[_.]\d.*|recip_rank|gm_bpref"
)
_RANX = re.compile(r"(hit_rate|hits|f1|r_precision|precision)(@.*)?|.*-l\d+")
_XGBOOST = re.compile(r"pre@.*|.*@\d+-|ndcg-|map-")
_CATBOOST = re.compile(r"[a-z]+:(top|type|border|denominator)=.*|(precision|recall)at|pfound(:.*)?|queryaverage(:.*)?")
_SKLEARN = re.compile(r"n?dcg_score|(label_ranking_)?average_precision_score")
_NDEVAL = re.compile(r"strec@.*|alpha_n?dcg(\(.*\))?@.*|n?err_ia(\(.*\))?@.*|strecall.*|ap_ia")
_LIGHTGBM = re.compile(r"(rank_)?xendcg(_mart)?|xe_ndcg(_mart)?|lambdarank|mean_average_precision")
_PRESETS = {
    _TREC: ("trec_eval", "trec"),
    _RANX: ("ranx", "ranx"),
    _XGBOOST: ("XGBoost", "xgboost"),
    _CATBOOST: ("CatBoost", "catboost"),
    _SKLEARN: ("scikit-learn", "sklearn"),
    _LIGHTGBM: ("LightGBM", "lightgbm"),
    _NDEVAL: ("ndeval", "ndeval"),
}


def instead(name: str) -> str | None:
    """What to use instead of a metric of another tool; None if it is unknown."""
    return INSTEAD.get(_SAME.get(name, name))


def other_convention(text: str) -> str | None:
    """Which preset gives the number of the tool that writes a metric so; None if no tool alone does."""
    text = text.strip()
    if "[" in text or len(text) > _LONGEST:
        return None
    if text.startswith("nDCG"):  # elsewhere in upper or in lower case
        return "as ir_measures computes it: --preset trec"
    for spelling, (tool, preset) in _PRESETS.items():
        if spelling.fullmatch(text.lower()):
            return f"as {tool} computes it: --preset {preset}"
    return None


_LONGEST = 100  # letters of a spelling
