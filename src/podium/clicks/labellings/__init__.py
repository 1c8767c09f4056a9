"""Labels made of clicks, one file per labelling. A new one: its file, one import line here, one test."""

from podium.clicks.labellings.base import Labelling as Labelling
from podium.clicks.labellings.base import PairLabels as PairLabels
from podium.clicks.labellings.base import label_pairs as label_pairs
from podium.clicks.labellings.base import labels as labels
from podium.clicks.labellings.click_rate_grades import ClickRateGrades as ClickRateGrades
from podium.clicks.labellings.coec import COEC as COEC
from podium.clicks.labellings.ctr import CTR as CTR
from podium.clicks.labellings.graph_cut import Graph as Graph
