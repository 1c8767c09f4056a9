"""Spec of a comparison as a TOML or YAML file: datasets × methods × metrics × seeds. `run_spec` runs it.

    datasets = ["OHSUMED", "clicks.txt"]        # or a table: name = "path"
    methods = ["listnet", "lambdamart(num_leaves=15)"]
    metrics = ["ndcg@10", "map"]
    tune_by = "ndcg@10"
    preset = "letor3"
    seeds = [0, 1, 2]
    search = "optuna(trials=50)"
    by = "market"
    output = "results"
    jobs = 2

Only datasets and methods are required. `by` is a query feature, by whose values results are given, too;
`query_features` are columns of tables. Paths are relative to the file. An empty path is said when the spec is run, as
by `podium compare SPEC --data NAME=PATH`: see `place_datasets`. Specs of papers' tables are in the folder `papers`; the
name of one is `paper:NAME`.
"""

from __future__ import annotations

import json
import os
import reprlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium.base.errors import DataError, MissingPackageError, ParameterError, PodiumError, UnknownNameError
from podium.base.files import write_texts
from podium.evaluation.evaluate import read_metrics
from podium.methods import METHODS, method
from podium.tuning import Tuning

METRICS = ("ndcg@10", "ndcg@5", "ndcg@3", "ndcg@1", "map")
"""Metrics that are reported by default."""
TUNE_BY = "ndcg@10"
"""Metric that chooses hyperparameters and stops early by default."""
ENDINGS = (".toml", ".yaml", ".yml")
PAPER = "paper:"
"""Start of the name of a spec that comes with podium."""


@dataclass(frozen=True)
class Spec:
    """Spec of a comparison. `datasets` are paths by name; each is compared separately."""

    datasets: dict[str, str]
    methods: tuple[str, ...]
    metrics: tuple[str, ...] = METRICS
    tune_by: str = TUNE_BY
    preset: str | None = None
    seeds: tuple[int, ...] = (0,)
    search: str = "grid"
    output: str | None = None
    by: str | None = None  # what segments of the queries are called by: a query feature, such as market
    query_features: tuple[str, ...] = ()  # columns of tables that describe the query
    jobs: int | None = None  # None: as many as there are cores

    def folder(self, dataset: str) -> str | None:
        """Folder of the comparison on a dataset: the output, or a folder in it if there are several datasets."""
        if self.output is None or len(self.datasets) == 1:
            return self.output
        return os.path.join(self.output, dataset)


def make_spec(datasets: list[str] | dict[str, str], methods: list[str], **rest: Any) -> Spec:
    """Make a spec, with every name checked. In a list, datasets are named by the last part of their path; `all` means
    every method.
    """
    spec = _spec(datasets, methods, **rest)
    for check in _CHECKS.values():
        check(spec)
    return spec


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """Read the spec in a file, or the one of a paper's table by its name, such as paper:freno-2011-table-1."""
    source = _paper(str(path)) if str(path).startswith(PAPER) else Path(path)
    texts = _parsed(source)
    try:
        for key in texts:
            if key not in _TYPES:
                raise UnknownNameError("key", key, _TYPES)
        values = {key: _typed(key, value) for key, value in texts.items()}
        for key in ("datasets", "methods"):
            if key not in values:
                raise ParameterError(f"{key}: is missing.")
        spec = _spec(values.pop("datasets"), values.pop("methods"), **values)
    except PodiumError as error:
        raise ParameterError(f"{os.fspath(path)}: {error}") from error
    for key, check in _CHECKS.items():
        try:
            check(spec)
        except PodiumError as error:
            raise ParameterError(f"{os.fspath(path)}: {key}: {error}") from error
    here = source.parent
    return replace(
        spec,
        datasets={name: place and os.path.normpath(here / place) for name, place in spec.datasets.items()},
        output=None if spec.output is None else os.path.normpath(here / spec.output),
    )


def papers() -> list[str]:
    """Names of the specs of papers' tables."""
    return sorted(PAPER + path.name.removesuffix(".toml") for path in _PAPERS.glob("*.toml"))


def place_datasets(spec: Spec, places: Mapping[str, str]) -> Spec:
    """The spec with its datasets at these places, by name; those whose place nobody says are left out."""
    for name in places:
        if name not in spec.datasets:
            raise UnknownNameError("dataset", name, spec.datasets)
    datasets = {name: place for name, place in (spec.datasets | dict(places)).items() if place}
    if not datasets:
        names = ", ".join(spec.datasets)
        example = next(iter(spec.datasets))
        raise ParameterError(f"Say where the data is: --data {example}=PATH. The spec is about {names}.")
    return replace(spec, datasets=datasets)


def write_spec(spec: Spec) -> None:
    """Write spec.toml into the output folder; `podium compare` on that file repeats the comparison."""
    assert spec.output is not None, "checked by the caller"
    datasets = {name: _relative(place, spec.output) for name, place in spec.datasets.items()}
    fields = {
        "methods": spec.methods,
        "metrics": spec.metrics,
        "tune_by": spec.tune_by,
        "preset": spec.preset,
        "seeds": spec.seeds,
        "search": spec.search,
        "by": spec.by,
        "query_features": spec.query_features or None,
        "output": ".",
    }
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value is not None]
    lines += ["", "[datasets]", *(f"{json.dumps(name)} = {json.dumps(place)}" for name, place in datasets.items()), ""]
    write_texts(spec.output, {"spec.toml": "\n".join(lines)})


_PAPERS = Path(__file__).with_name("papers")


def _paper(name: str) -> Path:
    if name not in papers():
        raise UnknownNameError("spec", name, papers())
    return _PAPERS / f"{name.removeprefix(PAPER)}.toml"


def _spec(datasets: list[str] | dict[str, str], methods: list[str], **rest: Any) -> Spec:
    names = [name for word in methods for name in (METHODS if word == "all" else [word])]
    return Spec(_named(datasets), tuple(dict.fromkeys(names)), **rest)


def _check_methods(spec: Spec) -> None:
    if not spec.methods:
        raise ParameterError("At least one method is needed, e.g. listnet.")
    for name in spec.methods:
        method(name)


def _check_seeds(spec: Spec) -> None:
    if not spec.seeds or min(spec.seeds) < 0:
        raise ParameterError(f"At least one seed is needed, and none below 0; got {list(spec.seeds)}.")


def _check_jobs(spec: Spec) -> None:
    if spec.jobs is not None and spec.jobs < 1:
        raise ParameterError(f"At least one job is needed; got {spec.jobs}.")


_CHECKS: dict[str, Callable[[Spec], object]] = {
    "methods": _check_methods,
    "metrics": lambda spec: read_metrics(spec.metrics, spec.preset),
    "tune_by": lambda spec: read_metrics([spec.tune_by], spec.preset),
    "seeds": _check_seeds,
    "search": lambda spec: Tuning.parse(spec.search),
    "jobs": _check_jobs,
}


_TYPES: dict[str, str] = {
    "datasets": "a list of paths, or a table of them by name",
    "methods": "a list of texts",
    "metrics": "a list of texts",
    "tune_by": "text",
    "preset": "text",
    "seeds": "a list of whole numbers",
    "search": "text",
    "by": "text",
    "query_features": "a list of texts",
    "output": "text",
    "jobs": "a whole number",
}


def _typed(key: str, value: Any) -> Any:
    """Check the type of the value of a key; lists of metrics and seeds become tuples."""
    wanted = _TYPES[key]
    inside, fits = int if "number" in wanted else str, False
    if wanted.startswith("a list"):
        values = list(value.values()) if key == "datasets" and isinstance(value, dict) else value
        fits = isinstance(values, list) and all(type(item) is inside for item in values)
    else:
        fits = type(value) is inside
    if not fits:
        raise ParameterError(f"{key}: must be {wanted}; got {reprlib.repr(value)}.")  # YAML may hold a value many times
    return tuple(value) if key in ("metrics", "seeds", "query_features") else value


def _parsed(path: Path) -> dict[str, Any]:
    """Read the keys and values of a TOML or YAML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {getattr(error, 'strerror', None) or error}.", where=str(path)) from error
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise ParameterError(f"{path}: not TOML: {error}.") from error
    try:
        import yaml
    except ImportError:
        raise MissingPackageError("PyYAML", "A spec in YAML", "tune") from None
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(values, dict):
        raise ParameterError(f"{path}: expected keys and values, e.g. methods: [listnet].")
    return {str(key): value for key, value in values.items()}


def _named(datasets: list[str] | dict[str, str]) -> dict[str, str]:
    """Datasets by name. A name becomes a folder of the output, so it must be unique and not a path."""
    if not datasets:
        raise ParameterError("datasets: at least one is needed.")
    pairs = list(datasets.items()) if isinstance(datasets, dict) else [(Path(p).resolve().name, p) for p in datasets]
    paths: dict[str, str] = {}
    for name, place in pairs:
        if not name or name in (".", "..", "runs", "models") or "/" in name or os.sep in name:
            raise ParameterError(f"datasets: {name!r} cannot name a folder of results. Choose another name.")
        if name in paths:
            raise ParameterError(f"datasets: two are called {name!r}. Name them in a table: [datasets] name = path.")
        paths[name] = place
    return paths


def _relative(place: str, folder: str) -> str:
    return place if place == "-" else os.path.relpath(place, folder)
