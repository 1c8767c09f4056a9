from .interleaving import Interleaving as Interleaving
from .learning import DBGD as DBGD
from .learning import PDGD as PDGD
from .learning import OnlineLearner as OnlineLearner
from .learning import OnlinePage as OnlinePage
from .learning import OnlineRun as OnlineRun
from .learning import learn_online as learn_online
from .learning import start as start
