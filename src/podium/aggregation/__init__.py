"""Rank aggregation, one file per method. A new one: its file, one import line here, one test with one number."""

from podium.aggregation.aggregate import aggregate
from podium.aggregation.agreement import agreement
from podium.aggregation.base import Aggregator, Consensus, Solved
from podium.aggregation.borda import Borda
from podium.aggregation.combmnz import CombMNZ
from podium.aggregation.combsum import CombSum
from podium.aggregation.copeland import Copeland
from podium.aggregation.cranking import Cranked, Cranking
from podium.aggregation.cranking_ranks import RankDistribution
from podium.aggregation.footrule import Footrule
from podium.aggregation.kemeny import Kemeny
from podium.aggregation.mallows import Mallows
from podium.aggregation.markov import MC1, MC2, MC3, MC4
from podium.aggregation.plackett_luce_mle import PlackettLuceMLE
from podium.aggregation.pmop import PMOP
from podium.aggregation.rrf import RRF
from podium.aggregation.supervised import SupervisedAggregator, Trained, with_labels
from podium.aggregation.voter_weights import VoterWeights
from podium.aggregation.worths import Worths

__all__ = [
    "MC1",
    "MC2",
    "MC3",
    "MC4",
    "PMOP",
    "RRF",
    "Aggregator",
    "Borda",
    "CombMNZ",
    "CombSum",
    "Consensus",
    "Copeland",
    "Cranked",
    "Cranking",
    "Footrule",
    "Kemeny",
    "Mallows",
    "PlackettLuceMLE",
    "RankDistribution",
    "Solved",
    "SupervisedAggregator",
    "Trained",
    "VoterWeights",
    "Worths",
    "aggregate",
    "agreement",
    "with_labels",
]
