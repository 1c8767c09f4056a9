"""Metrics: one file per measure; `conventions.py` says what tools do differently."""

from podium.metrics.base import Average, Metric, mean
from podium.metrics.conventions import PRESETS, Convention
from podium.metrics.dcg import DCG
from podium.metrics.err import ERR
from podium.metrics.evaluate import evaluate_all
from podium.metrics.kendall import Kendall
from podium.metrics.map import MAP
from podium.metrics.mean_ndcg import MeanNDCG
from podium.metrics.mrr import MRR
from podium.metrics.ndcg import NDCG
from podium.metrics.pair_accuracy import PairAccuracy
from podium.metrics.precision import Precision
from podium.metrics.recall import Recall
from podium.metrics.wta import WTA

__all__ = [
    "DCG",
    "ERR",
    "MAP",
    "MRR",
    "NDCG",
    "PRESETS",
    "WTA",
    "Average",
    "Convention",
    "Kendall",
    "MeanNDCG",
    "Metric",
    "PairAccuracy",
    "Precision",
    "Recall",
    "evaluate_all",
    "mean",
]
