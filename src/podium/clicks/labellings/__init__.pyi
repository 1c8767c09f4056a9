from .base import Labelling as Labelling
from .base import PairLabels as PairLabels
from .base import label_pairs as label_pairs
from .base import labels as labels
from .click_rate_grades import ClickRateGrades as ClickRateGrades
from .coec import COEC as COEC
from .ctr import CTR as CTR
from .graph_cut import Graph as Graph
