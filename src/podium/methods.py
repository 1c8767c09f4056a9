"""Learning-to-rank methods by name: a table of recipes, self-contained algorithms and baselines.

    >>> from podium.methods import method
    >>> method("listnet(scorer=mlp)").learner
    recipe(loss=listnet,scorer=mlp,solver=adam)

With validation data, hyperparameters are chosen from a method's `grid`; those named in a specification stay fixed.
A method with other parts keeps what still applies of the grid. `register_method` adds a custom method.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

from podium.base.errors import ParameterError, UnknownNameError
from podium.base.familiar_names import ALIASES, OBJECTIVES, renamed, without_absent
from podium.base.registry import Named, field_types, load_plugins, split_call, write
from podium.learner import Learner
from podium.losses import Loss
from podium.recipe import Recipe
from podium.transforms import Transform


@dataclass(frozen=True)
class Method:
    """A learner and its short grid: the hyperparameters, or other parts, to choose from on validation data."""

    learner: Learner  # with the parameters from which tuning starts
    grid: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # values to try, by parameter or part
    family: str = "your own"  # heading under which lists show it
    doc: str = ""  # its documentation, if other than the docstring of its loss or learner
    summary: str = ""  # what it is, in a phrase, if other than the first sentence of its documentation
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


Grid = dict[str, tuple[Any, ...]]
PENALTY: Grid = {"penalty": (0.01, 0.1, 1.0)}
# 63 bins: as good as 255, in half the time. Growth is no choice: one forest looks best on the data that stopped it.
_BOOSTED = "scorer=trees(num_leaves=7,max_bin=63),solver=boosting(learning_rate=0.1,bagging_fraction=0.7)"
_TREES = f"recipe(loss={{}},{_BOOSTED},transform=identity)"
_LAMBDAMART = _TREES.format("lambdarank(metric={},damped=true,by_grade=0.5)")
_TREES_GRID: Grid = {"num_leaves": (7, 31), "transform": ("identity", "add-minmax")}
_LAMBDAMART_GRID: Grid = {"growth": ("mixed",), **_TREES_GRID}

_TABLE: dict[str, dict[str, tuple[str, str, Grid]]] = {
    "pointwise": {
        "regression": ("least squares on grades, or on their gains", "recipe(loss=regression)", PENALTY),
        "subset-regression": (
            "least squares on gains, weighted towards the top of the list",
            "recipe(loss=subset-regression)",
            PENALTY,
        ),
        "mcrank": ("boosted trees that classify documents into grades; ranks by the expected grade", "mcrank", {}),
        "mcrank-ordinal": ("McRank with cumulative (ordinal) classes", "mcrank(ordinal=true)", {}),
        "random-forest": ("mean of large regression trees, each on a sample of the queries", "random-forest", {}),
        "prank": ("perceptron for ordinal grades", "prank", {"average": (False, True)}),
        "oc-svm": (
            "support vector machine for ordinal grades, with the same margin at every threshold",
            "oc-svm",
            {"cost": (0.01, 0.1, 1.0)},
        ),
        "oc-svm-sum": (
            "support vector machine for ordinal grades that maximises the sum of margins",
            "oc-svm(margins=sum,cost=1.01)",
            {"cost": (1.001, 1.01, 1.1)},
        ),
    },
    "pairwise": {
        "ranknet": ("logistic loss on pairs, linear", "recipe(loss=ranknet(normalise=true))", PENALTY),
        "hinge": (
            "Ranking SVM with the hinge loss, as SVMrank",
            "recipe(loss=hinge(normalise=true),solver=cutting-plane)",
            PENALTY,
        ),
        "ranking-svm": (
            "Ranking SVM with the squared hinge loss, as RankSVM by Newton's method",
            "recipe(loss=squared-hinge(normalise=true),solver=newton)",
            PENALTY,
        ),
        "ranking-svm-kernel": (
            "Ranking SVM with a Gaussian kernel (Nyström approximation)",
            "recipe(loss=squared-hinge(normalise=true),solver=newton(penalty=0.01),transform=nystrom)",
            {"penalty": (0.003, 0.01, 0.03), "gamma": (0.15, 0.5, 1.5)},
        ),
        "ir-svm": (
            "Ranking SVM with pairs weighted by grade, and queries weighted equally",
            "recipe(loss=ir-svm)",
            PENALTY,
        ),
        "rank-regress": (
            "least squares on differences of scores",
            "recipe(loss=rank-regress(normalise=true),solver=newton)",
            PENALTY,
        ),
        "frank": ("fidelity loss on pairs", "recipe(loss=frank(normalise=true),solver=adam)", PENALTY),
        "pairties-rk": (
            "Bradley–Terry model with ties, by Rao & Kupper",
            "recipe(loss=pairties-rk(normalise=true))",
            PENALTY,
        ),
        "pairties-d": ("Bradley–Terry model with ties (Davidson)", "recipe(loss=pairties-d(normalise=true))", PENALTY),
        "exponential": (
            "exponential loss on pairs, as RankBoost's, linear",
            "recipe(loss=exponential(normalise=true))",
            PENALTY,
        ),
        "mallows": (
            "Mallows model around an uncertain centre",
            "recipe(loss=mallows(normalise=true),solver=adam)",
            PENALTY,
        ),
        "lambdarank": (
            "pairs weighted by what their exchange changes in NDCG, linear",
            "recipe(loss=lambdarank,solver=adam)",
            PENALTY,
        ),
        "lambdamart": (
            "gradient boosted trees with LambdaRank's gradients, for NDCG",
            _LAMBDAMART.format("ndcg@30"),
            _LAMBDAMART_GRID,
        ),
        "lambdamart-map": ("LambdaMART for MAP", _LAMBDAMART.format("map"), _LAMBDAMART_GRID),
        "lambdamart-err": ("LambdaMART for ERR@10", _LAMBDAMART.format("err@10"), _LAMBDAMART_GRID),
        "lambdamart-mrr": ("LambdaMART for MRR", _LAMBDAMART.format("mrr"), _LAMBDAMART_GRID),
        "lambdaloss": (
            "pairs weighted so that the loss bounds NDCG (NDCG-Loss2), linear",
            "recipe(loss=lambda-loss,solver=adam)",
            PENALTY,
        ),
        "lambdaloss-trees": ("LambdaLoss with gradient boosted trees", _TREES.format("lambda-loss"), _TREES_GRID),
        "yetirank": (
            "gradient boosted trees on neighbours in rankings of noisy scores, as CatBoost's YetiRank",
            _TREES.format("yeti-rank"),
            _TREES_GRID,
        ),
        "rankboost": ("boosting of single-feature thresholds on pairs", "rankboost", {}),
        "gbrank": (
            "boosted regression trees that correct pairs in the wrong order",
            "gbrank",
            {"shrinkage": (0.1, 0.3)},
        ),
        "sortnet": ("neural network that compares two documents; sorts by its answers", "sortnet", {}),
        "splitting": ("perceptron on pairs of a good and a bad document", "splitting", {"margin": (1.0, 10.0, 100.0)}),
    },
    "listwise": {
        "listnet": ("cross entropy of top-k probabilities, linear", "recipe(loss=listnet)", PENALTY),
        # the loss grows with the sum of the labels (1 for clicks, tens for grades of a long list), hence the wide grid
        "softmax": (
            "cross entropy of labels and softmax of scores, linear; takes clicks",
            "recipe(loss=softmax)",
            {"penalty": (0.01, 0.1, 1.0, 10.0)},
        ),
        "xe-ndcg-mart": (
            "gradient boosted trees on the cross entropy from perturbed gains, as LightGBM's rank_xendcg",
            _TREES.format("xe-ndcg(orders=3)"),
            _TREES_GRID,
        ),
        "listmle": (
            "likelihood of the ideal order (Plackett–Luce), linear",
            "recipe(loss=listmle,solver=adam)",
            PENALTY,
        ),
        "thurstone": ("likelihood of the order of grades under normal noise", "recipe(loss=thurstone)", PENALTY),
        "pmop-fd": (
            "likelihood of blocks of equal grades, full decomposition",
            "recipe(loss=pmop-fd,solver=adam,transform=minmax)",
            PENALTY,
        ),
        "pmop-exact": (
            "likelihood of blocks of equal grades (ordered partitions), exact",
            "recipe(loss=pmop-exact,solver=lbfgs(iterations=100,tolerance=1e-5))",
            {"penalty": (0.001, 0.01, 0.1)},
        ),
        "pmop-gibbs": (
            "ordered partitions, gradient by Gibbs sampling",
            "recipe(loss=pmop-gibbs,solver=sgd)",
            {"learning_rate": (0.03, 0.1, 0.3)},
        ),
        "pmop-mh": (
            "ordered partitions, gradient by Metropolis–Hastings sampling",
            "recipe(loss=pmop-mh(samples=30),solver=sgd)",
            {"learning_rate": (0.03, 0.1, 0.3)},
        ),
        "boltzrank": (
            "expected NDCG over rankings of a Boltzmann distribution",
            "recipe(loss=boltzrank,solver=adam)",
            {"alpha": (1.0, 3.0, 10.0), "penalty": (0.0, 0.01)},
        ),
        "energy-ndcg": (
            "pseudo-likelihood of ranks with NDCG as energy",
            "recipe(loss=energy-ndcg,solver=lbfgs(penalty=0.01,tolerance=1e-8))",
            {"window": (None, 1, 5), "penalty": (0.1, 1.0, 10.0)},
        ),
        "adarank-map": ("AdaRank: boosting of single features for MAP", "adarank", {}),
        "adarank-ndcg": ("AdaRank for NDCG@5", "adarank(metric=ndcg@5)", {}),
        "coordinate-ascent": ("linear weights that maximise NDCG@10, one at a time", "coordinate-ascent", {}),
        "svm-map": ("structural SVM for average precision", "svm-map", {"cost": (0.1, 1.0, 10.0)}),
        "svm-ndcg": ("structural SVM for NDCG", "svm-map(measure=ndcg)", {"cost": (0.1, 1.0, 10.0)}),
        "permurank": ("SVM that separates perfect from imperfect rankings", "permurank", {"cost": (0.03, 0.1, 1.0)}),
        "c-crf": ("grades of a query together: similar or linked documents pull at each other", "c-crf", {}),
        "structrank": (
            "probability that all preferences hold (cumulative distribution network), kernel smoother",
            "recipe(loss=structrank(normalise=true),scorer=nadaraya-watson,"
            "solver=projected(learning_rate=1.0,starts=3),transform=minmax)",
            {"learning_rate": (1.0, 5.0)},
        ),
    },
    "direct": {
        "softrank": (
            "expected NDCG under normal noise on the scores",
            "recipe(loss=softrank,solver=adam)",
            {"sigma": (0.3, 1.0)},
        ),
        "apprank": (
            "ApproxNDCG: NDCG at smooth ranks",
            "recipe(loss=apprank,solver=adam)",
            {"alpha": (5.0, 10.0, 20.0)},
        ),
        "apprank-ap": (
            "average precision at smooth ranks",
            "recipe(loss=apprank(measure=ap),solver=adam)",
            {"alpha": (5.0, 10.0, 20.0)},
        ),
    },
    "baselines": {
        "single-feature": ("the best single feature", "single-feature", {}),
        "random": ("random scores", "random", {}),
    },
}
"""Family → name → (what it is, learner, grid that validation data chooses from). Parts are imported at first use."""
_ROWS = {name: (family, *row) for family, rows in _TABLE.items() for name, row in rows.items()}
OF_METHODS = {
    "auto": "linear models and boosted trees, in the proportion that is best on validation data",
    "bagged": "the mean of several fits of a method, each to a bootstrap sample of the queries",
    "blended": "stacking: several methods, combined by their mean or by another method on their scores",
    "interpolated": "saved models, and a method, in the proportions that are best on validation data",
    "adapted": "a method on top of a saved model, or of one shared by several markets",
    "per-class": "a method for each class of queries, such as a market or a cluster",
    "nearest": "a method fitted to the nearest training queries of each query",
    "nested": "a method in stages, each of which ranks the top of the one before",
    "shrunk": "a method's scores, shrunk towards the first stage of a search by cross-validation",
    "self-trained": "a method fitted again with the queries that nobody judged",
}
"""Learners of other methods, and what they are; `of` is a method's specification."""
OF_OTHER_DATA = {
    "walk": "supervised random walk over the links of DATA.relations, which have features",
    "svm-div": "documents that cover words, and so the topics of DATA.topics",
}
"""Learners that do not learn from features and grades alone, and what they are."""
_ADDED: dict[str, Method] = {}
"""Methods of plug-ins and of `register_method`."""


class Methods(Mapping[str, Method]):
    """Read-only mapping of all named methods: the table above, plug-ins, and those of `register_method`."""

    def __getitem__(self, name: str) -> Method:
        load_plugins()
        return _ADDED[name] if name in _ADDED else _of_row(name)

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter([*_ROWS, *_ADDED])

    def __len__(self) -> int:
        load_plugins()
        return len(_ROWS) + len(_ADDED)

    def __contains__(self, name: object) -> bool:
        load_plugins()
        return name in _ROWS or name in _ADDED

    def summaries(self) -> Iterator[tuple[str, str, str]]:
        """Family, name and summary of every method; those of the table are listed without importing their parts."""
        load_plugins()
        yield from ((family, name, summary) for name, (family, summary, _, _) in _ROWS.items())
        for name, method in _ADDED.items():
            yield method.family, name, method.summary or method.page().partition("\n")[0]


METHODS = Methods()


@functools.cache
def _of_row(name: str) -> Method:
    """The method of a row of the table."""
    family, summary, learner, grid = _ROWS[name]
    transforms = {key: tuple(map(Transform.parse, values)) for key, values in grid.items() if key == "transform"}
    return Method(Learner.parse(learner), {**grid, **transforms}, family, summary=summary)


def register_method(name: str, method: Method) -> None:
    """Register a custom `method` under a `name`, for use in every command, specification and comparison.

    A method registered by a script exists in that process only. To have it in every process, register it in an
    installed module and name the module in an entry point of the group `podium`: a plug-in.
    """
    if not re.fullmatch(r"[a-z0-9]+([-.][a-z0-9]+)*", name) or name in ("all", "recipe"):
        raise ParameterError(
            f"A method cannot be called {name!r}. Use lower-case letters, digits and hyphens; all and recipe are taken."
        )
    if name in METHODS and METHODS[name] != method:
        raise ParameterError(f"There is a method {name!r} already: {METHODS[name].learner!r}. Choose another name.")
    for key, values in method.grid.items():
        for value in values:
            method.learner.changed({key: write(value)})  # raises if the learner has no such parameter or value
    if name not in _ROWS:
        _ADDED[name] = method


def method(text: str) -> Method:
    """Parse the specification of a method: a name, a name with changed parameters, or a recipe in full.

    `listnet`, `listnet(penalty=0.1)`, `listnet(scorer=mlp(hidden=[16]))`, `recipe(loss=listnet,scorer=linear)`.

    `text`: the name of a method with parameters, such as `lambdamart(num_leaves=15)`.
    """
    name, parameters = split_call(text)
    if name not in METHODS and name.lower() in OBJECTIVES:
        return method(_of_objective(name, parameters))
    if name not in METHODS:
        learner, fixed = _learner(name, text).specified(parameters), _named(parameters)
        tried = learner.transform.grid() if isinstance(learner, Recipe) else learner.grid()
        grid = {key: values for key, values in tried.items() if key not in fixed}
        return Method(learner, grid, fixed=fixed)
    original = METHODS[name]
    parts = {part: value for part, value in parameters.items() if part in field_types(Recipe)}
    names = original.learner.changed(parts).parameter_names() if parts else original.learner.parameter_names()
    parameters = without_absent(renamed(parameters, names), names, method=name)
    fixed = _named(parameters)
    learner = original.learner.changed(parameters)
    return replace(original, learner=learner, grid=_grid_of(learner, original, parameters.keys() | fixed), fixed=fixed)


def _learner(name: str, text: str) -> type[Learner]:
    """A learner that is not in the table, such as `recipe`."""
    try:
        return Learner.find(name)
    except UnknownNameError:
        if name in Loss.catalogue():
            raise ParameterError(f"{name!r} is a loss, not a method. Train it as {_as_recipe(name, text)!r}.") from None
        raise UnknownNameError("method", name, [*METHODS, *Learner.catalogue()], see="podium methods") from None


def _grid_of(learner: Learner, original: Method, named: AbstractSet[str]) -> dict[str, tuple[Any, ...]]:
    """The entries of a method's grid that its changed learner has and that are not `named` in the specification.

    Learning rates differ between kinds of solvers, so another's default is tried first. Trees of a named size stay so.
    """
    scorer = getattr(learner, "scorer", None)
    named = named | ({"num_leaves"} if getattr(scorer, "growth", None) == "levels" else set())  # these have a depth
    fixed = named | ({"growth"} if {"num_leaves"} & named or getattr(scorer, "max_depth", None) else set())
    tried = {**original.grid, **learner.transform.grid()}
    kept = {key: values for key, values in tried.items() if key not in fixed and learner.has_parameter(key)}
    before, after = getattr(original.learner, "solver", None), getattr(learner, "solver", None)
    if "learning_rate" in kept and type(before) is not type(after):
        kept["learning_rate"] = (after.learning_rate, *kept["learning_rate"])  # type: ignore[union-attr]
    return kept


def _as_recipe(name: str, text: str) -> str:
    """Specification of a recipe with this loss and its parameters."""
    return f"recipe(loss={name}{text.strip().removeprefix(name).strip()})"


def _of_objective(name: str, parameters: dict[str, str]) -> str:
    """Specification of the method that another tool calls an objective."""
    original, own = split_call(OBJECTIVES[name.lower()])
    arguments = ",".join(f"{key}={text}" for key, text in {**own, **parameters}.items())
    return f"{original}({arguments})" if arguments else original


def _named(parameters: dict[str, str]) -> frozenset[str]:
    """Names of the parameters in a specification, including those of its parts, also by podium's name for them."""
    parts = {part for part in field_types(Recipe) if part in parameters}
    inside = {name for part in parts for name in split_call(parameters[part])[1]}
    inside |= {ALIASES[name] for name in inside if name in ALIASES}
    return frozenset(inside | (parameters.keys() - parts))
