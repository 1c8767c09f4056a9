"""Transforms of features, one file each."""

from podium.transforms.add_minmax import AddMinMax as AddMinMax
from podium.transforms.base import Affine as Affine
from podium.transforms.base import State as State
from podium.transforms.base import Transform as Transform
from podium.transforms.identity import Identity as Identity
from podium.transforms.minmax import MinMax as MinMax
from podium.transforms.nystrom import Nystrom as Nystrom
from podium.transforms.query_zscore import QueryZScore as QueryZScore
from podium.transforms.second_order import SecondOrder as SecondOrder
from podium.transforms.zscore import ZScore as ZScore
