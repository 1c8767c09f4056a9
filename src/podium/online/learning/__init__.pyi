from .base import OnlineLearner as OnlineLearner
from .base import OnlinePage as OnlinePage
from .base import start as start
from .dbgd import DBGD as DBGD
from .pdgd import PDGD as PDGD
from .simulation import OnlineRun as OnlineRun
from .simulation import learn_online as learn_online
