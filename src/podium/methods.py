"""The methods of the literature, by name: a table of recipes, and the baselines beside them.

    >>> from podium.methods import method
    >>> method("listnet(scorer=mlp)").learner
    recipe(loss=listnet,scorer=mlp,solver=adam)

A method's `grid` is tried on validation data where there is some; what a specification names is not tried.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace

from podium.algorithms import Random, SingleFeature
from podium.errors import UnknownNameError
from podium.features import None_
from podium.learner import Learner
from podium.losses import (
    Exponential,
    Hinge,
    LambdaRank,
    ListMLE,
    ListNet,
    PMOPFD,
    RankNet,
    Regression,
    SquaredHinge,
)
from podium.recipe import Recipe
from podium.registry import build, split_call
from podium.scorers import Trees
from podium.solvers import Boosting


@dataclass(frozen=True)
class Method:
    """A learner under a name, with the short grid that validation data chooses from."""

    learner: Learner
    grid: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def page(self) -> str:
        """What to know about it: formula, ties, cost, use, reference."""
        about = self.learner.loss if isinstance(self.learner, Recipe) else self.learner
        return inspect.cleandoc(type(about).__doc__ or "")


PENALTY = {"penalty": (0.001, 0.01, 0.1, 1.0)}

METHODS: dict[str, Method] = {
    # pointwise
    "regression": Method(Recipe(loss=Regression()), PENALTY),
    # pairwise
    "ranknet": Method(Recipe(loss=RankNet(normalise=True)), PENALTY),
    "hinge": Method(Recipe(loss=Hinge(normalise=True)), PENALTY),
    "squared-hinge": Method(Recipe(loss=SquaredHinge(normalise=True)), PENALTY),
    "exponential": Method(Recipe(loss=Exponential(normalise=True)), PENALTY),
    "lambdarank": Method(Recipe(loss=LambdaRank()), PENALTY),
    "lambdamart": Method(
        Recipe(loss=LambdaRank(), scorer=Trees(leaves=7), solver=Boosting(), transform=None_()), {"rate": (0.05, 0.1)}
    ),
    # listwise
    "listnet": Method(Recipe(loss=ListNet()), PENALTY),
    "listmle": Method(Recipe(loss=ListMLE()), PENALTY),
    "pmop-fd": Method(Recipe(loss=PMOPFD()), PENALTY),
    # baselines
    "single-feature": Method(SingleFeature()),
    "random": Method(Random()),
}


def method(text: str) -> Method:
    """The method that `text` names: a name of the table, a name with changes, or a recipe in full.

    `listnet`, `listnet(penalty=0.1)`, `listnet(scorer=mlp(hidden=[16]))`, `recipe(loss=listnet,scorer=linear)`.
    """
    name, settings = split_call(text)
    if name not in METHODS:
        learners = Learner.catalogue()
        if name not in learners:
            raise UnknownNameError("method", name, [*METHODS, *learners], see="podium methods")
        return Method(build(learners[name], settings))
    found = METHODS[name]
    if not isinstance(found.learner, Recipe):
        return Method(build(type(found.learner), settings))
    learner = found.learner.changed(settings)
    left = {k: v for k, v in found.grid.items() if k not in settings and learner.has_parameter(k)}
    if "solver" in settings:
        left = {}
    return replace(found, learner=learner, grid=left)
