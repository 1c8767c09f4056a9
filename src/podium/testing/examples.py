"""Small data for the contract suites: queries in general position, datasets, and values off their defaults."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import os
import typing
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import ParameterError
from podium.base.registry import Named, field_types
from podium.data.dataset import Dataset
from podium.jit.compiled import is_interpreted
from podium.recipe import Recipe

N = TypeVar("N", bound=Named)
T = TypeVar("T")


def size(usual: int, smallest: int) -> int:
    """Number of documents, queries or examples of a check: the smallest if kernels run as plain Python.

    So too if kernels check every index (NUMBA_BOUNDSCHECK): then it is enough that each of them runs.
    """
    return smallest if is_interpreted() or os.environ.get("NUMBA_BOUNDSCHECK", "0") != "0" else usual


def draw_query(rng: np.random.Generator, n: int, *, scale: float = 1.0) -> tuple[Array, Array]:
    """Scores in general position and grades from 0 to 3, for n documents."""
    labels = rng.integers(0, 4, n).astype(np.float64)
    return general_position(rng.permutation(n), rng.uniform(-1, 1, n), scale=scale), labels


def general_position(places: ArrayLike, jitter: ArrayLike, *, scale: float = 1.0) -> Array:
    """Scores from distinct whole numbers and jitter in [−1, 1]; at scale 1 no difference is within .03 of 0 or 1."""
    return scale * (0.37 * np.asarray(places, np.float64) + 0.04 * np.asarray(jitter, np.float64))


def linear_data(
    n_queries: int = 8, documents: int = 6, *, n_features: int = 3, noise: float = 0.3, seed: int = 0
) -> Dataset:
    """Synthetic data: standard normal features, and grades 0 to 2 of a linear utility plus noise, weights 1 to −1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_queries * documents, n_features))
    utility = X @ np.linspace(1.0, -1.0, n_features) + noise * rng.standard_normal(len(X))
    grades = np.digitize(utility, [0.0, 1.0])
    return Dataset.from_arrays(X, grades, group=np.full(n_queries, documents)).grouped()


def instances(cls: type[N]) -> Iterator[N]:
    """Default instance, and one with every parameter moved off its default."""
    default, *others = variants(cls)
    yield default
    yield from others[-1:]


def variants(cls: type[N]) -> Iterator[N]:
    """Default instance, then each parameter alone moved off its default, then all of them moved."""
    default = cls()
    yield default
    moved = default
    for name, hint in field_types(cls).items():
        for value in _others(getattr(default, name), hint):
            try:
                yield dataclasses.replace(default, **{name: value})  # type: ignore[type-var]
                moved = dataclasses.replace(moved, **{name: value})  # type: ignore[type-var]
            except ParameterError:
                continue
            break
    if moved != default:
        yield moved


def installed(cls: type[Named]) -> bool:
    """Whether the optional package of the same name is installed."""
    return cls.name != "torch" or importlib.util.find_spec("torch") is not None


def short(value: T, steps: int) -> T:
    """Limit a solver, algorithm or recipe to this number of iterations."""
    if isinstance(value, Recipe):
        return dataclasses.replace(value, solver=short(value.solver, steps))
    return with_fields(value, iterations=steps, epochs=steps, rounds=steps, restarts=1)


def with_fields(value: T, **fields: Any) -> T:
    """Replace those of the fields that the value has."""
    names = {field.name for field in dataclasses.fields(value)}  # type: ignore[arg-type]
    return dataclasses.replace(value, **{k: v for k, v in fields.items() if k in names})  # type: ignore[type-var]


@contextlib.contextmanager
def threads(number: int) -> Iterator[None]:
    """Set the number of threads that podium uses, within the block."""
    before = os.environ.get("PODIUM_THREADS")
    os.environ["PODIUM_THREADS"] = str(number)
    try:
        yield
    finally:
        del os.environ["PODIUM_THREADS"]
        if before is not None:
            os.environ["PODIUM_THREADS"] = before


def _defaults(kind: type[Named]) -> Iterator[Named]:
    """The things of a kind that need no parameters."""
    for cls in kind.catalogue().values():
        with contextlib.suppress(ParameterError):
            yield cls()


def _others(value: Any, hint: Any) -> list[Any]:
    """Other values of the same type, some of which are within bounds."""
    options = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return [option for option in options if option != value]
    if typing.get_origin(hint) is tuple:
        return [(3, 2)]
    if type(None) in options:
        return [7, 0.7, None]
    if isinstance(hint, type) and issubclass(hint, Named):
        others = [instance for instance in _defaults(hint) if instance != value]
        return [other for other in others if not getattr(other, "reads_topics", False)]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 3, value - 1]
    if isinstance(value, float):
        return [1.7 * value or 0.3, 0.6 * value]
    return []
