"""The losses, one file each. A new one: its file, one import line here, one test with one number from the paper."""

from podium.losses.base import Derivatives, Loss, RankingDistribution, kernel, sweep, template
from podium.losses.ranknet import RankNet

__all__ = ["Derivatives", "Loss", "RankNet", "RankingDistribution", "kernel", "sweep", "template"]
