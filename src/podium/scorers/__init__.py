"""The scorers, one file each."""

from podium.scorers.base import Scorer, SmoothScorer
from podium.scorers.kernel import Kernel
from podium.scorers.linear import Linear
from podium.scorers.mlp import MLP
from podium.scorers.torch import Torch
from podium.scorers.trees import Trees

__all__ = ["MLP", "Kernel", "Linear", "Scorer", "SmoothScorer", "Torch", "Trees"]
