"""Distributions over rankings, one file each."""

from podium.distributions.base import RankingDistribution as RankingDistribution
from podium.distributions.boltzmann import Boltzmann as Boltzmann
from podium.distributions.davidson import Davidson as Davidson
from podium.distributions.mallows import Mallows as Mallows
from podium.distributions.ordered_partitions import OrderedPartitions as OrderedPartitions
from podium.distributions.ordered_partitions_fd import OrderedPartitionsFD as OrderedPartitionsFD
from podium.distributions.plackett_luce import PlackettLuce as PlackettLuce
from podium.distributions.rao_kupper import RaoKupper as RaoKupper
from podium.distributions.reverse_plackett_luce import ReversePlackettLuce as ReversePlackettLuce
from podium.distributions.thurstone import Thurstone as Thurstone
