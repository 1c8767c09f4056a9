"""The losses, one file each. A new one: its file, one import line here, one test with one number from the paper."""

from podium.losses.apprank import AppRank
from podium.losses.base import Derivatives, Loss, product, sweep
from podium.losses.boltzrank import BoltzRank
from podium.losses.energy_ndcg import EnergyNDCG
from podium.losses.exponential import Exponential
from podium.losses.frank import FRank
from podium.losses.hinge import Hinge
from podium.losses.ir_svm import IRSVM
from podium.losses.lambdarank import LambdaRank
from podium.losses.listmle import ListMLE
from podium.losses.listnet import ListNet
from podium.losses.mallows import Mallows
from podium.losses.pairs import PairwiseLoss
from podium.losses.pairties_d import PairTiesD
from podium.losses.pairties_rk import PairTiesRK
from podium.losses.pmop_exact import PMOPExact
from podium.losses.pmop_fd import PMOPFD
from podium.losses.pmop_gibbs import PMOPGibbs
from podium.losses.pmop_mh import PMOPMH
from podium.losses.rank_regress import RankRegress
from podium.losses.ranknet import RankNet
from podium.losses.regression import Regression
from podium.losses.softrank import SoftRank
from podium.losses.squared_hinge import SquaredHinge
from podium.losses.structrank import StructRank
from podium.losses.subset_regression import SubsetRegression
from podium.losses.thurstone import Thurstone

__all__ = [
    "IRSVM",
    "PMOPFD",
    "PMOPMH",
    "AppRank",
    "BoltzRank",
    "Derivatives",
    "EnergyNDCG",
    "Exponential",
    "FRank",
    "Hinge",
    "LambdaRank",
    "ListMLE",
    "ListNet",
    "Loss",
    "Mallows",
    "PMOPExact",
    "PMOPGibbs",
    "PairTiesD",
    "PairTiesRK",
    "PairwiseLoss",
    "RankNet",
    "RankRegress",
    "Regression",
    "SoftRank",
    "SquaredHinge",
    "StructRank",
    "SubsetRegression",
    "Thurstone",
    "product",
    "sweep",
]
