"""Distributions over rankings, one file each."""

from podium.distributions.base import RankingDistribution
from podium.distributions.boltzmann import Boltzmann
from podium.distributions.davidson import Davidson
from podium.distributions.mallows import Mallows
from podium.distributions.ordered_partitions import OrderedPartitions
from podium.distributions.ordered_partitions_fd import OrderedPartitionsFD
from podium.distributions.plackett_luce import PlackettLuce
from podium.distributions.rao_kupper import RaoKupper
from podium.distributions.thurstone import Thurstone

__all__ = [
    "Boltzmann",
    "Davidson",
    "Mallows",
    "OrderedPartitions",
    "OrderedPartitionsFD",
    "PlackettLuce",
    "RankingDistribution",
    "RaoKupper",
    "Thurstone",
]
