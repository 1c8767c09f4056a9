"""podium: learning to rank, from features to rankings with odds.

    >>> import podium
    >>> data, _ = podium.make_letor_like(30, seed=1)
    >>> train, test = podium.split(data, (0.8, 0.2))
    >>> model = podium.train(train, "listnet")
    >>> podium.evaluate(test, model.score(test), "ndcg@10").means()["ndcg@10"].value > 0.5
    True

Names are imported when they are first used, so that `import podium` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium import clicks as clicks
    from podium.aggregation import Aggregator as Aggregator
    from podium.aggregation.aggregate import aggregate as aggregate
    from podium.comparison.run import compare as compare
    from podium.comparison.run_spec import run_spec as run_spec
    from podium.data import ClickLog as ClickLog
    from podium.data import Dataset as Dataset
    from podium.data import Fold as Fold
    from podium.data import Preferences as Preferences
    from podium.data import Qrels as Qrels
    from podium.data import Rankings as Rankings
    from podium.data import Run as Run
    from podium.data import from_frame as from_frame
    from podium.data import k_folds as k_folds
    from podium.data import make_letor_like as make_letor_like
    from podium.data import read_clicks as read_clicks
    from podium.data import read_data as read_data
    from podium.data import read_folder as read_folder
    from podium.data import read_letor as read_letor
    from podium.data import read_qrels as read_qrels
    from podium.data import read_rankings as read_rankings
    from podium.data import read_run as read_run
    from podium.data import split as split
    from podium.data import to_frame as to_frame
    from podium.data import write_cache as write_cache
    from podium.data import write_clicks as write_clicks
    from podium.data import write_letor as write_letor
    from podium.data import write_qrels as write_qrels
    from podium.data import write_run as write_run
    from podium.data.check import check as check
    from podium.distributed.cluster import Cluster as Cluster
    from podium.engine import Engine as Engine
    from podium.evaluation.attribution import importance as importance
    from podium.evaluation.calibration import calibration as calibration
    from podium.evaluation.compare_runs import compare_runs as compare_runs
    from podium.evaluation.cross_validate import cross_validate as cross_validate
    from podium.evaluation.evaluate import evaluate as evaluate
    from podium.evaluation.evaluate import evaluate_run as evaluate_run
    from podium.evaluation.explain import explain as explain
    from podium.evaluation.reconcile import reconcile as reconcile
    from podium.evaluation.reconcile import reconcile_run as reconcile_run
    from podium.imports import import_model as import_model
    from podium.losses import Loss as Loss
    from podium.methods import METHODS as METHODS
    from podium.methods import Method as Method
    from podium.methods import method as method
    from podium.methods import register_method as register_method
    from podium.metrics import Metric as Metric
    from podium.model import Model as Model
    from podium.model import load as load
    from podium.odds import Odds as Odds
    from podium.recipe import Recipe as Recipe
    from podium.text.index import Index as Index
    from podium.training import train as train

    __version__: str

_HOMES = {
    "podium.aggregation": ("Aggregator", "aggregate"),
    "podium.data": (
        "ClickLog",
        "Dataset",
        "Fold",
        "Preferences",
        "Qrels",
        "Rankings",
        "Run",
        "check",
        "from_frame",
        "k_folds",
        "make_letor_like",
        "read_clicks",
        "read_data",
        "read_folder",
        "read_letor",
        "read_qrels",
        "read_rankings",
        "read_run",
        "split",
        "to_frame",
        "write_cache",
        "write_clicks",
        "write_letor",
        "write_qrels",
        "write_run",
    ),
    "podium.distributed.cluster": ("Cluster",),
    "podium.engine": ("Engine",),
    "podium.evaluation.attribution": ("importance",),
    "podium.evaluation.calibration": ("calibration",),
    "podium.evaluation.compare_runs": ("compare_runs",),
    "podium.evaluation.cross_validate": ("cross_validate",),
    "podium.evaluation.evaluate": (
        "evaluate",
        "evaluate_run",
    ),
    "podium.evaluation.explain": ("explain",),
    "podium.evaluation.reconcile": (
        "reconcile",
        "reconcile_run",
    ),
    "podium.comparison": ("compare", "run_spec"),
    "podium.imports": ("import_model",),
    "podium.losses": ("Loss",),
    "podium.methods": ("METHODS", "Method", "method", "register_method"),
    "podium.metrics": ("Metric",),
    "podium.model": ("Model", "load"),
    "podium.odds": ("Odds",),
    "podium.recipe": ("Recipe",),
    "podium.text.index": ("Index",),
    "podium.training": ("train",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "METHODS",
    "Aggregator",
    "ClickLog",
    "Cluster",
    "Dataset",
    "Engine",
    "Fold",
    "Index",
    "Loss",
    "Method",
    "Metric",
    "Model",
    "Odds",
    "Preferences",
    "Qrels",
    "Rankings",
    "Recipe",
    "Run",
    "aggregate",
    "calibration",
    "check",
    "clicks",
    "compare",
    "compare_runs",
    "cross_validate",
    "evaluate",
    "evaluate_run",
    "explain",
    "from_frame",
    "import_model",
    "importance",
    "k_folds",
    "load",
    "make_letor_like",
    "method",
    "read_clicks",
    "read_data",
    "read_folder",
    "read_letor",
    "read_qrels",
    "read_rankings",
    "read_run",
    "reconcile",
    "reconcile_run",
    "register_method",
    "run_spec",
    "split",
    "to_frame",
    "train",
    "write_cache",
    "write_clicks",
    "write_letor",
    "write_qrels",
    "write_run",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from podium.version import version

        return version()
    if name == "clicks":
        return import_module("podium.clicks")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
