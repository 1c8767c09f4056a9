"""Metrics: one file per measure; `conventions.py` says what tools do differently."""

from podium.metrics.base import Average, Metric, mean
from podium.metrics.conventions import PRESETS, Convention
from podium.metrics.dcg import DCG
from podium.metrics.evaluate import evaluate_all
from podium.metrics.map import MAP
from podium.metrics.ndcg import NDCG

__all__ = ["DCG", "MAP", "NDCG", "PRESETS", "Average", "Convention", "Metric", "evaluate_all", "mean"]
