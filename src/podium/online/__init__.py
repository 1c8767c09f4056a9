"""Learning while people search: each page is shown to learn from its clicks, and to serve who sees it."""

from podium.online.base import OnlineLearner as OnlineLearner
from podium.online.base import OnlinePage as OnlinePage
from podium.online.base import start as start
from podium.online.dbgd import DBGD as DBGD
from podium.online.experiment import OnlineRun as OnlineRun
from podium.online.experiment import learn_online as learn_online
from podium.online.pdgd import PDGD as PDGD
