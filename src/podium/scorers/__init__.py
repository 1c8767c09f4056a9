"""The scorers, one file each."""

from podium.scorers.base import Params, Prepared, RowScorer, Scorer, SmoothScorer
from podium.scorers.linear import Linear
from podium.scorers.mlp import MLP
from podium.scorers.nadaraya_watson import NadarayaWatson
from podium.scorers.torch import Torch
from podium.scorers.trees import Trees

__all__ = [
    "MLP",
    "Linear",
    "NadarayaWatson",
    "Params",
    "Prepared",
    "RowScorer",
    "Scorer",
    "SmoothScorer",
    "Torch",
    "Trees",
]
