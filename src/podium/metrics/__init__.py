"""Metrics: one file per measure; `conventions.py` says what tools do differently.

A new metric needs its file here and one line below.
"""

from podium.metrics.average import Average as Average
from podium.metrics.average import mean as mean
from podium.metrics.base import Metric as Metric
from podium.metrics.base import evaluate_all as evaluate_all
from podium.metrics.bpref import Bpref as Bpref
from podium.metrics.conventions import PRESETS as PRESETS
from podium.metrics.conventions import Convention as Convention
from podium.metrics.dcg import DCG as DCG
from podium.metrics.eleven_point import ElevenPoint as ElevenPoint
from podium.metrics.err import ERR as ERR
from podium.metrics.gm_map import GeometricMAP as GeometricMAP
from podium.metrics.inf_ap import InfAP as InfAP
from podium.metrics.iprec import IPrec as IPrec
from podium.metrics.kendall import Kendall as Kendall
from podium.metrics.map import MAP as MAP
from podium.metrics.mean_ndcg import MeanNDCG as MeanNDCG
from podium.metrics.mrr import MRR as MRR
from podium.metrics.ndcg import NDCG as NDCG
from podium.metrics.num_q import NumQ as NumQ
from podium.metrics.num_rel import NumRel as NumRel
from podium.metrics.num_rel_ret import NumRelRet as NumRelRet
from podium.metrics.num_ret import NumRet as NumRet
from podium.metrics.pair_accuracy import PairAccuracy as PairAccuracy
from podium.metrics.precision import Precision as Precision
from podium.metrics.r_precision import RPrecision as RPrecision
from podium.metrics.rbp import RBP as RBP
from podium.metrics.recall import Recall as Recall
from podium.metrics.set_f import SetF as SetF
from podium.metrics.set_map import SetMAP as SetMAP
from podium.metrics.set_relative_precision import SetRelativePrecision as SetRelativePrecision
from podium.metrics.success import Success as Success
from podium.metrics.unjudged import Unjudged as Unjudged
from podium.metrics.weighted_dcg import WeightedDCG as WeightedDCG
