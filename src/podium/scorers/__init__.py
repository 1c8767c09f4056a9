"""The scorers, one file each."""

from podium.scorers.base import Params as Params
from podium.scorers.base import Prepared as Prepared
from podium.scorers.base import RowScorer as RowScorer
from podium.scorers.base import Scorer as Scorer
from podium.scorers.base import SmoothScorer as SmoothScorer
from podium.scorers.linear import Linear as Linear
from podium.scorers.mlp import MLP as MLP
from podium.scorers.nadaraya_watson import NadarayaWatson as NadarayaWatson
from podium.scorers.torch import Torch as Torch
from podium.scorers.trees import Trees as Trees
