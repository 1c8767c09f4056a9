"""Learners that are not loss × scorer × solver, one file each."""

from podium.algorithms.random import Random
from podium.algorithms.single_feature import SingleFeature

__all__ = ["Random", "SingleFeature"]
