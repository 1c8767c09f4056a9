from .base import QueryView as QueryView
from .base import Reranker as Reranker
from .mmr import MMR as MMR
from .pm2 import PM2 as PM2
from .xquad import XQuAD as XQuAD
