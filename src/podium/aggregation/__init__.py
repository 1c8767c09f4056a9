"""Rank aggregation, one file per method. A new one: its file, one import line here, one test with one number."""

from podium.aggregation.base import Aggregator, Consensus, Solved
from podium.aggregation.borda import Borda
from podium.aggregation.rrf import RRF

__all__ = ["RRF", "Aggregator", "Borda", "Consensus", "Solved"]
