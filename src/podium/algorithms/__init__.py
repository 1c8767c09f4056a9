"""Learners that are not loss × scorer × solver, one file each."""

from podium.algorithms.adarank import AdaRank as AdaRank
from podium.algorithms.gbrank import GBRank as GBRank
from podium.algorithms.mcrank import McRank as McRank
from podium.algorithms.oc_svm import OCSVM as OCSVM
from podium.algorithms.permurank import PermuRank as PermuRank
from podium.algorithms.prank import PRank as PRank
from podium.algorithms.random import Random as Random
from podium.algorithms.rankboost import RankBoost as RankBoost
from podium.algorithms.single_feature import SingleFeature as SingleFeature
from podium.algorithms.sortnet import SortNet as SortNet
from podium.algorithms.splitting import Splitting as Splitting
from podium.algorithms.svm_map import SVMMAP as SVMMAP
