"""Transforms of features, one file each."""

from podium.features.base import State, Transform
from podium.features.minmax import MinMax
from podium.features.none import None_
from podium.features.nystrom import Nystrom
from podium.features.second_order import SecondOrder
from podium.features.zscore import ZScore

__all__ = ["MinMax", "None_", "Nystrom", "SecondOrder", "State", "Transform", "ZScore"]
