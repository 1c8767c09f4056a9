"""The losses, one file each. A new one: its file, one import line here, one test with one number from the paper."""

from podium.losses.base import Derivatives, Loss, RankingDistribution, kernel, sweep, template
from podium.losses.exponential import Exponential
from podium.losses.hinge import Hinge
from podium.losses.lambdarank import LambdaRank
from podium.losses.listmle import ListMLE
from podium.losses.listnet import ListNet
from podium.losses.pairs import PairwiseLoss
from podium.losses.pmop_fd import PMOPFD
from podium.losses.ranknet import RankNet
from podium.losses.regression import Regression
from podium.losses.squared_hinge import SquaredHinge

__all__ = [
    "PMOPFD",
    "Derivatives",
    "Exponential",
    "Hinge",
    "LambdaRank",
    "ListMLE",
    "ListNet",
    "Loss",
    "PairwiseLoss",
    "RankNet",
    "RankingDistribution",
    "Regression",
    "SquaredHinge",
    "kernel",
    "sweep",
    "template",
]
