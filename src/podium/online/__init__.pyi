from .base import OnlineLearner as OnlineLearner
from .base import OnlinePage as OnlinePage
from .base import start as start
from .dbgd import DBGD as DBGD
from .experiment import OnlineRun as OnlineRun
from .experiment import learn_online as learn_online
from .pdgd import PDGD as PDGD
