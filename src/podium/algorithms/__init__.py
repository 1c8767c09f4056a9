"""Learners that are not loss × scorer × solver, one file each."""

from podium.algorithms.adarank import AdaRank
from podium.algorithms.gbrank import GBRank
from podium.algorithms.mcrank import McRank
from podium.algorithms.oc_svm import OCSVM
from podium.algorithms.permurank import PermuRank
from podium.algorithms.prank import PRank
from podium.algorithms.random import Random
from podium.algorithms.rankboost import RankBoost
from podium.algorithms.single_feature import SingleFeature
from podium.algorithms.sortnet import SortNet
from podium.algorithms.svm_map import SVMMAP

__all__ = [
    "OCSVM",
    "SVMMAP",
    "AdaRank",
    "GBRank",
    "McRank",
    "PRank",
    "PermuRank",
    "Random",
    "RankBoost",
    "SingleFeature",
    "SortNet",
]
