"""The solvers, one file each."""

from podium.solvers.adam import Adam
from podium.solvers.base import Solution, Solver, Step, Watch, mean_metric
from podium.solvers.boosting import Boosting
from podium.solvers.cutting_plane import CuttingPlane
from podium.solvers.lbfgs import LBFGS
from podium.solvers.newton import Newton
from podium.solvers.projected import Projected
from podium.solvers.sgd import SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adam",
    "Boosting",
    "CuttingPlane",
    "Newton",
    "Projected",
    "Solution",
    "Solver",
    "Step",
    "Watch",
    "mean_metric",
]
