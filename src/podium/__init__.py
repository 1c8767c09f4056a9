"""podium: learning to rank, from features to rankings with odds.

    >>> import podium
    >>> data, _ = podium.make_letor_like(30, seed=1)
    >>> train, test = podium.split(data, (0.8, 0.2))
    >>> model = podium.train(train, "listnet")
    >>> podium.evaluate(test, model.score(test), ["ndcg@10"]).means()["ndcg@10"].value > 0.5
    True

Names are imported when they are first used, so that `import podium` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.data import Dataset as Dataset
    from podium.data import Fold as Fold
    from podium.data import Preferences as Preferences
    from podium.data import make_letor_like as make_letor_like
    from podium.data import read_data as read_data
    from podium.data import read_folder as read_folder
    from podium.data import read_letor as read_letor
    from podium.data import split as split
    from podium.data import write_letor as write_letor
    from podium.evaluation.calibration import calibration as calibration
    from podium.evaluation.evaluate import evaluate as evaluate
    from podium.evaluation.evaluate import evaluate_run as evaluate_run
    from podium.experiments.run import compare as compare
    from podium.methods import METHODS as METHODS
    from podium.methods import method as method
    from podium.metrics import Metric as Metric
    from podium.model import Model as Model
    from podium.odds import Odds as Odds
    from podium.recipe import Recipe as Recipe
    from podium.training import train as train

    __version__: str

_HOMES = {
    "podium.data": (
        "Dataset",
        "Fold",
        "Preferences",
        "make_letor_like",
        "read_data",
        "read_folder",
        "read_letor",
        "split",
        "write_letor",
    ),
    "podium.evaluation": ("calibration", "evaluate", "evaluate_run"),
    "podium.experiments": ("compare",),
    "podium.methods": ("METHODS", "method"),
    "podium.metrics": ("Metric",),
    "podium.model": ("Model",),
    "podium.odds": ("Odds",),
    "podium.recipe": ("Recipe",),
    "podium.training": ("train",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "METHODS",
    "Dataset",
    "Fold",
    "Metric",
    "Model",
    "Odds",
    "Preferences",
    "Recipe",
    "calibration",
    "compare",
    "evaluate",
    "evaluate_run",
    "make_letor_like",
    "method",
    "read_data",
    "read_folder",
    "read_letor",
    "split",
    "train",
    "write_letor",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from podium.version import version

        return version()
    if name not in _HOME_OF:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
