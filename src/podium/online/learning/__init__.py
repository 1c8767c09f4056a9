"""Online learning to rank: results pages serve users and explore. One file per learner."""

from podium.online.learning.base import OnlineLearner as OnlineLearner
from podium.online.learning.base import OnlinePage as OnlinePage
from podium.online.learning.base import start as start
from podium.online.learning.dbgd import DBGD as DBGD
from podium.online.learning.pdgd import PDGD as PDGD
from podium.online.learning.simulation import OnlineRun as OnlineRun
from podium.online.learning.simulation import learn_online as learn_online
