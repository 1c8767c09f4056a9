from .base import QueryView as QueryView
from .base import Reranker as Reranker
from .mmr import MMR as MMR
from .pm2 import PM2 as PM2
from .svm_div import DiverseSubsets as DiverseSubsets
from .svm_div import SvmDiv as SvmDiv
from .xquad import XQuAD as XQuAD
