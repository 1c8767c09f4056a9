"""The solvers, one file each."""

from podium.solvers.adam import Adam as Adam
from podium.solvers.base import Solution as Solution
from podium.solvers.base import Solver as Solver
from podium.solvers.base import Step as Step
from podium.solvers.base import Watch as Watch
from podium.solvers.base import mean_metric as mean_metric
from podium.solvers.boosting import Boosting as Boosting
from podium.solvers.cutting_plane import CuttingPlane as CuttingPlane
from podium.solvers.lbfgs import LBFGS as LBFGS
from podium.solvers.newton import Newton as Newton
from podium.solvers.projected import Projected as Projected
from podium.solvers.sgd import SGD as SGD
