"""The methods of the literature, by name: a table of recipes, and the baselines beside them.

    >>> from podium.methods import method
    >>> method("listnet(scorer=mlp)").learner
    recipe(loss=listnet,scorer=mlp,solver=adam)

A method's `grid` is tried on validation data, if there is any; parameters that a specification names are left alone.
A method with other parts keeps what it has of the grid, so that `listnet(scorer=mlp)` has its penalty chosen too.
`register_method` adds a method from outside.
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
from podium.base.registry import Named, build, field_types, load_plugins, split_call, write
from podium.learner import Learner
from podium.losses import Loss
from podium.recipe import Recipe
from podium.transforms import Transform


@dataclass(frozen=True)
class Method:
    """A learner, with the short grid that validation data chooses from: values of parameters, or other parts."""

    learner: Learner
    grid: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    family: str = "your own"
    doc: str = ""  # its page, if the docstring of its loss or learner is not
    fixed: frozenset[str] = frozenset()  # parameters that a specification names, and no search changes

    def about(self) -> Named:
        """The part that makes the method what it is: a recipe's loss, else the learner itself."""
        return self.learner.loss if isinstance(self.learner, Recipe) else self.learner

    def page(self) -> str:
        """What to know about it: formula, ties, cost, use, reference."""
        return inspect.cleandoc(self.doc or type(self.about()).__doc__ or "")

    def without(self, refused: Callable[[Transform], bool]) -> Method:
        """The method without the transforms in its grid that are refused."""

        def left(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(one for one in values if not (isinstance(one, Transform) and refused(one)))

        return replace(self, grid={name: left(values) for name, values in self.grid.items()})


Grid = dict[str, tuple[Any, ...]]
PENALTY: Grid = {"penalty": (0.01, 0.1, 1.0)}
_LAMBDAMART = (
    "recipe(loss=lambdarank(metric={},damped=true),scorer=trees(num_leaves=7),"
    "solver=boosting(learning_rate=0.1,bagging_fraction=0.7),transform=identity)"
)
_LAMBDAMART_GRID: Grid = {"num_leaves": (7, 31), "transform": ("identity", "add-minmax")}

_TABLE: dict[str, dict[str, tuple[str, Grid]]] = {
    "pointwise": {
        "regression": ("recipe(loss=regression)", PENALTY),
        "subset-regression": ("recipe(loss=subset-regression)", PENALTY),
        "mcrank": ("mcrank", {}),
        "mcrank-ordinal": ("mcrank(ordinal=true)", {}),
        "prank": ("prank", {"average": (False, True)}),
        "oc-svm": ("oc-svm", {"cost": (0.01, 0.1, 1.0)}),
        "oc-svm-sum": ("oc-svm(margins=sum,cost=1.01)", {"cost": (1.001, 1.01, 1.1)}),
    },
    "pairwise": {
        "ranknet": ("recipe(loss=ranknet(normalise=true))", PENALTY),
        "hinge": ("recipe(loss=hinge(normalise=true),solver=cutting-plane)", PENALTY),
        "ranking-svm": ("recipe(loss=squared-hinge(normalise=true),solver=newton)", PENALTY),
        "ranking-svm-kernel": (
            "recipe(loss=squared-hinge(normalise=true),solver=newton(penalty=0.01),transform=nystrom)",
            {"penalty": (0.003, 0.01, 0.03), "gamma": (0.15, 0.5, 1.5)},
        ),
        "ir-svm": ("recipe(loss=ir-svm)", PENALTY),
        "rank-regress": ("recipe(loss=rank-regress(normalise=true),solver=newton)", PENALTY),
        "frank": ("recipe(loss=frank(normalise=true),solver=adam)", PENALTY),
        "pairties-rk": ("recipe(loss=pairties-rk(normalise=true))", PENALTY),
        "pairties-d": ("recipe(loss=pairties-d(normalise=true))", PENALTY),
        "exponential": ("recipe(loss=exponential(normalise=true))", PENALTY),
        "mallows": ("recipe(loss=mallows(normalise=true),solver=adam)", PENALTY),
        "lambdarank": ("recipe(loss=lambdarank,solver=adam)", PENALTY),
        "lambdamart": (_LAMBDAMART.format("ndcg@30"), _LAMBDAMART_GRID),
        "lambdamart-map": (_LAMBDAMART.format("map"), _LAMBDAMART_GRID),
        "lambdamart-err": (_LAMBDAMART.format("err@10"), _LAMBDAMART_GRID),
        "lambdamart-mrr": (_LAMBDAMART.format("mrr"), _LAMBDAMART_GRID),
        "rankboost": ("rankboost", {}),
        "gbrank": ("gbrank", {"shrinkage": (0.1, 0.3)}),
        "sortnet": ("sortnet", {}),
        "splitting": ("splitting", {"margin": (1.0, 10.0, 100.0)}),
    },
    "listwise": {
        "listnet": ("recipe(loss=listnet)", PENALTY),
        # its size is that of the labels' sum: 1 for clicks per page, tens for the grades of a long list
        "softmax": ("recipe(loss=softmax)", {"penalty": (0.01, 0.1, 1.0, 10.0)}),
        "listmle": ("recipe(loss=listmle,solver=adam)", PENALTY),
        "thurstone": ("recipe(loss=thurstone)", PENALTY),
        "pmop-fd": ("recipe(loss=pmop-fd,solver=adam,transform=minmax)", PENALTY),
        "pmop-exact": (
            "recipe(loss=pmop-exact,solver=lbfgs(iterations=100,tolerance=1e-5))",
            {"penalty": (0.001, 0.01, 0.1)},
        ),
        "pmop-gibbs": ("recipe(loss=pmop-gibbs,solver=sgd)", {"learning_rate": (0.03, 0.1, 0.3)}),
        "pmop-mh": ("recipe(loss=pmop-mh(samples=30),solver=sgd)", {"learning_rate": (0.03, 0.1, 0.3)}),
        "boltzrank": ("recipe(loss=boltzrank,solver=adam)", {"alpha": (1.0, 3.0, 10.0), "penalty": (0.0, 0.01)}),
        "energy-ndcg": (
            "recipe(loss=energy-ndcg,solver=lbfgs(penalty=0.01,tolerance=1e-8))",
            {"penalty": (0.1, 1.0, 10.0)},
        ),
        "adarank-map": ("adarank", {}),
        "adarank-ndcg": ("adarank(metric=ndcg@5)", {}),
        "svm-map": ("svm-map", {"cost": (0.1, 1.0, 10.0)}),
        "svm-ndcg": ("svm-map(measure=ndcg)", {"cost": (0.1, 1.0, 10.0)}),
        "permurank": ("permurank", {"cost": (0.03, 0.1, 1.0)}),
        "structrank": (
            "recipe(loss=structrank(normalise=true),scorer=nadaraya-watson,"
            "solver=projected(learning_rate=1.0,starts=3),transform=minmax)",
            {"learning_rate": (1.0, 5.0)},
        ),
    },
    "direct": {
        "softrank": ("recipe(loss=softrank,solver=adam)", {"sigma": (0.3, 1.0)}),
        "apprank": ("recipe(loss=apprank,solver=adam)", {"alpha": (5.0, 10.0, 20.0)}),
        "apprank-ap": ("recipe(loss=apprank(measure=ap),solver=adam)", {"alpha": (5.0, 10.0, 20.0)}),
    },
    "baselines": {
        "single-feature": ("single-feature", {}),
        "random": ("random", {}),
    },
}
"""Family → name → (learner, grid that validation data chooses from). Parts are imported when they are used."""
_ROWS = {name: (family, *row) for family, rows in _TABLE.items() for name, row in rows.items()}
_ADDED: dict[str, Method] = {}
"""Methods of plug-ins and of `register_method`."""


class Methods(Mapping[str, Method]):
    """Every named method, read-only: the table above, and what plug-ins and `register_method` add."""

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


METHODS = Methods()


@functools.cache
def _of_row(name: str) -> Method:
    """The method of a row of the table."""
    family, learner, grid = _ROWS[name]
    transforms = {key: tuple(map(Transform.parse, values)) for key, values in grid.items() if key == "transform"}
    return Method(Learner.parse(learner), {**grid, **transforms}, family)


def register_method(name: str, found: Method) -> None:
    """Add a named method: every command, grammar and comparison then knows it.

    A module that does so, and is named by an entry point of the group `podium`, is a plug-in: installed once, its
    methods are known everywhere. What a script registers is known in its own process alone.
    """
    if not re.fullmatch(r"[a-z0-9]+([-.][a-z0-9]+)*", name) or name in ("all", "recipe"):
        raise ParameterError(
            f"A method cannot be called {name!r}. Use lower-case letters, digits and hyphens; all and recipe are taken."
        )
    if name in METHODS and METHODS[name] != found:
        raise ParameterError(f"There is a method {name!r} already: {METHODS[name].learner!r}. Choose another name.")
    for key, values in found.grid.items():
        for value in values:
            found.learner.changed({key: write(value)})  # an error if the learner has no such parameter or value
    if name not in _ROWS:
        _ADDED[name] = found


def method(text: str) -> Method:
    """The method that `text` names: a name of the table, a name with changes, or a recipe in full.

    `listnet`, `listnet(penalty=0.1)`, `listnet(scorer=mlp(hidden=[16]))`, `recipe(loss=listnet,scorer=linear)`.
    """
    name, settings = split_call(text)
    if name not in METHODS:
        return Method(build(_learner(name, text), settings), fixed=_named(settings))
    found, fixed = METHODS[name], _named(settings)
    learner = found.learner.changed(settings)
    return replace(found, learner=learner, grid=_grid_of(learner, found, settings.keys() | fixed), fixed=fixed)


def _learner(name: str, text: str) -> type[Learner]:
    """A learner that is not in the table, such as `recipe`."""
    try:
        return Learner.find(name)
    except UnknownNameError:
        if name in Loss.catalogue():
            raise ParameterError(f"{name!r} is a loss, not a method. Train it as {_as_recipe(name, text)!r}.") from None
        raise UnknownNameError("method", name, [*METHODS, *Learner.catalogue()], see="podium methods") from None


def _grid_of(learner: Learner, original: Method, named: AbstractSet[str]) -> dict[str, tuple[Any, ...]]:
    """What the grid of a method leaves to try of its changed learner: every entry that it has and nobody named.

    Steps that suit one kind of solver are lost on another, so there its own learning rate is tried before them.
    """
    kept = {key: values for key, values in original.grid.items() if key not in named and learner.has_parameter(key)}
    before, after = (getattr(one, "solver", None) for one in (original.learner, learner))
    if "learning_rate" in kept and type(before) is not type(after):
        kept["learning_rate"] = (after.learning_rate, *kept["learning_rate"])  # type: ignore[union-attr]
    return kept


def _as_recipe(name: str, text: str) -> str:
    """The recipe for a loss, with its parameters."""
    return f"recipe(loss={name}{text.strip().removeprefix(name).strip()})"


def _named(settings: dict[str, str]) -> frozenset[str]:
    """The parameters that a specification names, those within its parts too."""
    parts = {part for part in field_types(Recipe) if part in settings}
    inside = {name for part in parts for name in split_call(settings[part])[1]}
    return frozenset(inside | (settings.keys() - parts))
