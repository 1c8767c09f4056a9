"""Transforms of features, one file each."""

from podium.transforms.base import Affine, State, Transform
from podium.transforms.identity import Identity
from podium.transforms.minmax import MinMax
from podium.transforms.nystrom import Nystrom
from podium.transforms.second_order import SecondOrder
from podium.transforms.zscore import ZScore

__all__ = ["Affine", "Identity", "MinMax", "Nystrom", "SecondOrder", "State", "Transform", "ZScore"]
