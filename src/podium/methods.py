"""Learning-to-rank methods by name: a table of recipes, self-contained algorithms and baselines.

    >>> from podium.methods import method
    >>> method("listnet(scorer=mlp)").learner
    recipe(loss=listnet,scorer=mlp,solver=adam)

With validation data, hyperparameters are chosen from a method's `grid`; those named in a specification stay fixed.
A method with other parts keeps the entries of the grid that still apply: the penalty of `listnet(scorer=mlp)` is
chosen too. `register_method` adds a custom method.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

from podium.algorithms import (
    OCSVM,
    SVMMAP,
    AdaRank,
    GBRank,
    McRank,
    PermuRank,
    PRank,
    Random,
    RankBoost,
    SingleFeature,
    SortNet,
    Splitting,
)
from podium.base.errors import ParameterError, UnknownNameError
from podium.base.registry import Named, build, field_types, load_plugins, split_call, write
from podium.learner import Learner
from podium.losses import (
    IRSVM,
    PMOPFD,
    PMOPMH,
    AppRank,
    BoltzRank,
    EnergyNDCG,
    Exponential,
    FRank,
    Hinge,
    LambdaRank,
    ListMLE,
    ListNet,
    Loss,
    Mallows,
    PairTiesD,
    PairTiesRK,
    PMOPExact,
    PMOPGibbs,
    RankNet,
    RankRegress,
    Regression,
    Softmax,
    SoftRank,
    SquaredHinge,
    StructRank,
    SubsetRegression,
    Thurstone,
)
from podium.metrics import ERR, MAP, MRR, NDCG, Metric
from podium.recipe import Recipe
from podium.scorers import NadarayaWatson, Trees
from podium.solvers import LBFGS, SGD, Adam, Boosting, CuttingPlane, Newton, Projected
from podium.transforms import AddMinMax, Identity, MinMax, Nystrom, Transform


@dataclass(frozen=True)
class Method:
    """A learner and its short grid: the hyperparameters, or other parts, to choose from on validation data."""

    learner: Learner
    grid: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    family: str = "your own"
    doc: str = ""  # its documentation, if other than the docstring of its loss or learner
    fixed: frozenset[str] = frozenset()  # parameters named in a specification, which tuning leaves alone

    def about(self) -> Named:
        """The part that defines the method: the loss of a recipe, else the learner itself."""
        return self.learner.loss if isinstance(self.learner, Recipe) else self.learner

    def page(self) -> str:
        """Documentation of the method: formula, ties, cost, use, reference."""
        return inspect.cleandoc(self.doc or type(self.about()).__doc__ or "")

    def without(self, refused: Callable[[Transform], bool]) -> Method:
        """The method without the transforms in its grid for which `refused` is true."""

        def kept(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(value for value in values if not (isinstance(value, Transform) and refused(value)))

        return replace(self, grid={name: kept(values) for name, values in self.grid.items()})


PENALTY: dict[str, tuple[Any, ...]] = {"penalty": (0.01, 0.1, 1.0)}


def _lambdamart(metric: Metric) -> Method:
    """LambdaMART: boosted trees with LambdaRank's gradients for a metric."""
    loss, boosting = LambdaRank(metric=metric, damped=True), Boosting(learning_rate=0.1, bagging_fraction=0.7)
    recipe = Recipe(loss=loss, scorer=Trees(num_leaves=7), solver=boosting, transform=Identity())
    return Method(recipe, {"num_leaves": (7, 31), "transform": (Identity(), AddMinMax())}, "pairwise")


_TABLE: dict[str, Method] = {
    "regression": Method(Recipe(loss=Regression()), PENALTY, "pointwise"),
    "subset-regression": Method(Recipe(loss=SubsetRegression()), PENALTY, "pointwise"),
    "mcrank": Method(McRank(), family="pointwise"),
    "mcrank-ordinal": Method(McRank(ordinal=True), family="pointwise"),
    "prank": Method(PRank(), {"average": (False, True)}, "pointwise"),
    "oc-svm": Method(OCSVM(), {"cost": (0.01, 0.1, 1.0)}, "pointwise"),
    "oc-svm-sum": Method(OCSVM(margins="sum", cost=1.01), {"cost": (1.001, 1.01, 1.1)}, "pointwise"),
    "ranknet": Method(Recipe(loss=RankNet(normalise=True)), PENALTY, "pairwise"),
    "hinge": Method(Recipe(loss=Hinge(normalise=True), solver=CuttingPlane()), PENALTY, "pairwise"),
    "ranking-svm": Method(Recipe(loss=SquaredHinge(normalise=True), solver=Newton()), PENALTY, "pairwise"),
    "ranking-svm-kernel": Method(
        Recipe(loss=SquaredHinge(normalise=True), solver=Newton(penalty=0.01), transform=Nystrom()),
        {"penalty": (0.003, 0.01, 0.03), "gamma": (0.15, 0.5, 1.5)},
        "pairwise",
    ),
    "ir-svm": Method(Recipe(loss=IRSVM()), PENALTY, "pairwise"),
    "rank-regress": Method(Recipe(loss=RankRegress(normalise=True), solver=Newton()), PENALTY, "pairwise"),
    "frank": Method(Recipe(loss=FRank(normalise=True), solver=Adam()), PENALTY, "pairwise"),
    "pairties-rk": Method(Recipe(loss=PairTiesRK(normalise=True)), PENALTY, "pairwise"),
    "pairties-d": Method(Recipe(loss=PairTiesD(normalise=True)), PENALTY, "pairwise"),
    "exponential": Method(Recipe(loss=Exponential(normalise=True)), PENALTY, "pairwise"),
    "mallows": Method(Recipe(loss=Mallows(normalise=True), solver=Adam()), PENALTY, "pairwise"),
    "lambdarank": Method(Recipe(loss=LambdaRank(), solver=Adam()), PENALTY, "pairwise"),
    "lambdamart": _lambdamart(NDCG(30)),
    "lambdamart-map": _lambdamart(MAP()),
    "lambdamart-err": _lambdamart(ERR(10)),
    "lambdamart-mrr": _lambdamart(MRR()),
    "rankboost": Method(RankBoost(), family="pairwise"),
    "gbrank": Method(GBRank(), {"shrinkage": (0.1, 0.3)}, "pairwise"),
    "sortnet": Method(SortNet(), family="pairwise"),
    "splitting": Method(Splitting(), {"margin": (1.0, 10.0, 100.0)}, "pairwise"),
    "listnet": Method(Recipe(loss=ListNet()), PENALTY, "listwise"),
    # the loss grows with the sum of the labels (1 for clicks, tens for the grades of a long list), hence the wide grid
    "softmax": Method(Recipe(loss=Softmax()), {"penalty": (0.01, 0.1, 1.0, 10.0)}, "listwise"),
    "listmle": Method(Recipe(loss=ListMLE(), solver=Adam()), PENALTY, "listwise"),
    "thurstone": Method(Recipe(loss=Thurstone()), PENALTY, "listwise"),
    "pmop-fd": Method(Recipe(loss=PMOPFD(), solver=Adam(), transform=MinMax()), PENALTY, "listwise"),
    "pmop-exact": Method(
        Recipe(loss=PMOPExact(), solver=LBFGS(iterations=100, tolerance=1e-5)),
        {"penalty": (0.001, 0.01, 0.1)},
        "listwise",
    ),
    "pmop-gibbs": Method(Recipe(loss=PMOPGibbs(), solver=SGD()), {"learning_rate": (0.03, 0.1, 0.3)}, "listwise"),
    "pmop-mh": Method(Recipe(loss=PMOPMH(samples=30), solver=SGD()), {"learning_rate": (0.03, 0.1, 0.3)}, "listwise"),
    "boltzrank": Method(
        Recipe(loss=BoltzRank(), solver=Adam()), {"alpha": (1.0, 3.0, 10.0), "penalty": (0.0, 0.01)}, "listwise"
    ),
    "energy-ndcg": Method(
        Recipe(loss=EnergyNDCG(), solver=LBFGS(penalty=0.01, tolerance=1e-8)), {"penalty": (0.1, 1.0, 10.0)}, "listwise"
    ),
    "adarank-map": Method(AdaRank(), family="listwise"),
    "adarank-ndcg": Method(AdaRank(metric=NDCG(5)), family="listwise"),
    "svm-map": Method(SVMMAP(), {"cost": (0.1, 1.0, 10.0)}, "listwise"),
    "svm-ndcg": Method(SVMMAP(measure="ndcg"), {"cost": (0.1, 1.0, 10.0)}, "listwise"),
    "permurank": Method(PermuRank(), {"cost": (0.03, 0.1, 1.0)}, "listwise"),
    "structrank": Method(
        Recipe(
            loss=StructRank(normalise=True),
            scorer=NadarayaWatson(),
            solver=Projected(learning_rate=1.0, starts=3),
            transform=MinMax(),
        ),
        {"learning_rate": (1.0, 5.0)},
        "listwise",
    ),
    "softrank": Method(Recipe(loss=SoftRank(), solver=Adam()), {"sigma": (0.3, 1.0)}, "direct"),
    "apprank": Method(Recipe(loss=AppRank(), solver=Adam()), {"alpha": (5.0, 10.0, 20.0)}, "direct"),
    "apprank-ap": Method(Recipe(loss=AppRank(measure="ap"), solver=Adam()), {"alpha": (5.0, 10.0, 20.0)}, "direct"),
    "single-feature": Method(SingleFeature(), family="baselines"),
    "random": Method(Random(), family="baselines"),
}


class Methods(Mapping[str, Method]):
    """Read-only mapping of all named methods: the table above, plug-ins, and those of `register_method`."""

    def __getitem__(self, name: str) -> Method:
        load_plugins()
        return _TABLE[name]

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(list(_TABLE))

    def __len__(self) -> int:
        load_plugins()
        return len(_TABLE)


METHODS = Methods()


def register_method(name: str, method: Method) -> None:
    """Register a custom method under a name, for use in every command, specification and comparison.

    A method registered by a script exists in that process only. To have it in every process, register it in an
    installed module and name the module in an entry point of the group `podium`: a plug-in.
    """
    if not re.fullmatch(r"[a-z0-9]+([-.][a-z0-9]+)*", name) or name in ("all", "recipe"):
        raise ParameterError(
            f"A method cannot be called {name!r}. Use lower-case letters, digits and hyphens; all and recipe are taken."
        )
    if _TABLE.get(name, method) != method:
        raise ParameterError(f"There is a method {name!r} already: {_TABLE[name].learner!r}. Choose another name.")
    for key, values in method.grid.items():
        for value in values:
            method.learner.changed({key: write(value)})  # raises if the learner has no such parameter or value
    _TABLE[name] = method


def method(text: str) -> Method:
    """Parse the specification of a method: a name, a name with changed parameters, or a recipe in full.

    `listnet`, `listnet(penalty=0.1)`, `listnet(scorer=mlp(hidden=[16]))`, `recipe(loss=listnet,scorer=linear)`.
    """
    name, parameters = split_call(text)
    if name not in METHODS:
        learners = Learner.catalogue()
        if name not in learners:
            if name in Loss.catalogue():
                raise ParameterError(f"{name!r} is a loss, not a method. Train it as {_as_recipe(name, text)!r}.")
            raise UnknownNameError("method", name, [*METHODS, *learners], see="podium methods")
        return Method(build(learners[name], parameters), fixed=_named(parameters))
    original, fixed = METHODS[name], _named(parameters)
    learner = original.learner.changed(parameters)
    grid = _grid_of(learner, original, parameters.keys() | fixed)
    return replace(original, learner=learner, grid=grid, fixed=fixed)


def _grid_of(learner: Learner, original: Method, named: AbstractSet[str]) -> dict[str, tuple[Any, ...]]:
    """The entries of a method's grid that its changed learner has and that are not `named` in the specification.

    Learning rates differ between kinds of solvers, so another solver's default is tried first.
    """
    kept = {key: values for key, values in original.grid.items() if key not in named and learner.has_parameter(key)}
    before, after = getattr(original.learner, "solver", None), getattr(learner, "solver", None)
    if "learning_rate" in kept and type(before) is not type(after):
        kept["learning_rate"] = (after.learning_rate, *kept["learning_rate"])  # type: ignore[union-attr]
    return kept


def _as_recipe(name: str, text: str) -> str:
    """Specification of a recipe with this loss and its parameters."""
    return f"recipe(loss={name}{text.strip().removeprefix(name).strip()})"


def _named(parameters: dict[str, str]) -> frozenset[str]:
    """Names of the parameters in a specification, including those of its parts."""
    parts = {part for part in field_types(Recipe) if part in parameters}
    inside = {name for part in parts for name in split_call(parameters[part])[1]}
    return frozenset(inside | (parameters.keys() - parts))
