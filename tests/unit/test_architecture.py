"""The architecture, kept by tests: layers, one file per named thing, short functions, nothing heavy at import."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from podium.aggregation import Aggregator, SupervisedAggregator
from podium.clicks import ClickModel, Labelling
from podium.distributions import RankingDistribution
from podium.export import Target
from podium.learner import Learner
from podium.losses import Loss
from podium.metrics import Metric
from podium.online import OnlineLearner
from podium.propensities import Estimator
from podium.scorers import Scorer
from podium.solvers import Solver
from podium.text.analyser import Analyser
from podium.text.features import Feature
from podium.text.retrieval import Retrieval
from podium.transforms import Transform

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "podium"
FILES = sorted(SOURCE.rglob("*.py"))

LAYERS = [
    [
        "version",
        "errors",
        "registry",
        "values",
        "arrays",
        "arguments",
        "columns",
        "compiled",
        "machine_code",
        "disk_cache",
        "sources",
        "threads",
        "files",
        "float32",
        "ranking",
        "text_bytes",
        "views",
        "rows",
        "ids",
        "shortest",
        "forms",
        "archive",
    ],
    ["data", "metrics", "graph"],
    ["text", "transforms", "kernels", "clicks"],
    ["distributions"],
    ["losses", "scorers"],
    ["problem", "solvers", "learner", "algorithms"],
    ["recipe", "odds", "temperature", "model", "fixed", "methods", "tuning", "training", "propensities"],
    ["evaluation", "aggregation", "export", "imports", "sklearn", "engine", "online"],
    ["experiments"],
    ["distributed"],
    ["testing", "service", "cli", "__main__"],
]
LAYER = {name: height for height, names in enumerate(LAYERS) for name in names}

KINDS = {
    "aggregation": [Aggregator, SupervisedAggregator],
    "distributions": [RankingDistribution],
    "losses": [Loss],
    "scorers": [Scorer],
    "solvers": [Solver],
    "transforms": [Transform],
    "metrics": [Metric],
    "algorithms": [Learner],
    "clicks": [ClickModel, Labelling],
    "online": [OnlineLearner],
    "propensities": [Estimator],
    "export": [Target],
}
HEAVY = (
    "lightgbm",
    "torch",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "fastapi",
    "dask",
    "optuna",
    "onnx",
    "onnxruntime",
    "xgboost",
    "catboost",
)


def name(file):
    return str(file.relative_to(SOURCE))


def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def imported(node):
    """The modules that an import statement names, of podium's with the part below it."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        whole = node.module or ""
        return [f"podium.{alias.name}" for alias in node.names] if whole == "podium" else [whole]
    return []


def podiums(file):
    """(line, first module below podium) for everything of podium that a file imports, anywhere in it."""
    for node in ast.walk(tree(file)):
        for module in imported(node):
            if module.startswith("podium."):
                yield node.lineno, module.split(".")[1]


def test_a_module_imports_from_its_own_layer_or_lower_ones():
    for file in FILES:
        if file == SOURCE / "__init__.py":
            continue
        own = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        assert own in LAYER, f"{own} has no layer: add it to LAYERS in {Path(__file__).name}, and to the design"
        for line, other in podiums(file):
            if other.startswith("__"):
                continue  # podium.__version__
            assert other in LAYER, f"{other} has no layer: add it to LAYERS in {Path(__file__).name}, and to the design"
            assert LAYER[other] <= LAYER[own], f"{name(file)}:{line}: {own} is below {other} and must not import it"


def catalogue(folder):
    """Everything registered of the folder's kinds, by name."""
    return {name: cls for kind in KINDS[folder] for name, cls in kind.catalogue().items()}


def registering(folder):
    """(module, class) of every class that a file of the folder registers."""
    for file in sorted((SOURCE / folder).glob("*.py")):
        for node in tree(file).body:
            if isinstance(node, ast.ClassDef) and any("register" in ast.dump(mark) for mark in node.decorator_list):
                yield file.stem, node.name


@pytest.mark.parametrize("folder", KINDS)
def test_the_folder_is_the_registry(folder):
    known = {(cls.__module__, cls.__name__) for cls in catalogue(folder).values()}
    for module, cls in registering(folder):
        line = f"from podium.{folder}.{module} import {cls} as {cls}"
        assert (f"podium.{folder}.{module}", cls) in known, f"add to {folder}/__init__.py: {line}"
    there = set(registering(folder))
    for module, cls in known:
        if module.startswith(f"podium.{folder}."):
            assert (module.rpartition(".")[2], cls) in there


@pytest.mark.parametrize("folder", KINDS)
def test_a_thing_is_found_in_the_file_of_its_name(folder):
    for called, cls in catalogue(folder).items():
        if cls.__module__.startswith(f"podium.{folder}."):
            plain = re.sub("[-_]", "", called)
            if cls.__module__.endswith(".markov"):
                continue  # MC1 to MC4 are four Markov chains
            assert plain in re.sub("_", "", cls.__module__.rpartition(".")[2]), f"{called} is in {cls.__module__}"


@pytest.mark.parametrize("folder", KINDS)
def test_the_package_exports_what_it_registers(folder):
    package = sys.modules[f"podium.{folder}"]
    for _, cls in registering(folder):
        assert hasattr(package, cls), f"{folder}/__init__.py does not import {cls}"


HEADINGS = {
    Loss: ("Formula:", "Ties:", "Cost:", "Use it for:", "Reference:"),
    Scorer: ("Cost:", "Use it for:"),
    Learner: (),
    Solver: (),
    Transform: (),
    Metric: (),
    Feature: (),
    Retrieval: (),
    Analyser: (),
    Target: (),
}


@pytest.mark.parametrize(
    "cls", [cls for kind in HEADINGS for cls in kind.catalogue().values()], ids=lambda cls: f"{cls.kind} {cls.name}"
)
def test_what_is_registered_says_what_it_is_under_fixed_headings(cls):
    page = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
    assert page
    assert not re.match(rf"{cls.__name__}\(\w+:", page), "that is the text dataclasses write where there is none"
    kind = next(kind for kind in HEADINGS if issubclass(cls, kind))
    missing = [heading for heading in HEADINGS[kind] if heading not in page]
    assert not missing, f"{cls.name}: its docstring lacks {', '.join(missing)}"


def test_modules_say_what_they_are_and_stay_short():
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert ast.get_docstring(tree(file)), f"{name(file)} has no docstring"
        assert len(text.splitlines()) <= 400, f"{name(file)} has {len(text.splitlines())} lines; split it"


def test_functions_are_short():
    for file in FILES:
        for node in ast.walk(tree(file)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1
                assert lines <= 60, f"{name(file)}:{node.lineno}: {node.name} has {lines} lines; split it"


def test_no_code_is_ever_read_from_data():
    for file in FILES:
        if file == SOURCE / "disk_cache.py":  # numba's own machine code, of files that this user or root owns
            continue
        for node in ast.walk(tree(file)):
            for module in imported(node):
                top = module.split(".")[0]
                assert top not in {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}, (
                    f"{name(file)}: {top}"
                )
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile", "__import__"}, f"{name(file)}:{node.lineno}"


def test_heavy_packages_are_imported_where_they_are_used():
    for file in FILES:
        for node in tree(file).body:
            for module in imported(node):
                assert module.split(".")[0] not in HEAVY, f"{name(file)}:{node.lineno}: import {module} in the function"


def test_there_is_no_global_random_state():
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        found = re.search(r"np\.random\.(?!default_rng|Generator|SeedSequence|RandomState\b)\w+", text)
        assert not found, f"{name(file)}: {found[0]}; take a generator"


def test_importing_podium_loads_nothing_heavy():
    program = "import sys, podium; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "podium" in loaded
    assert not loaded & {"numpy", "scipy", "numba", "sklearn", "narwhals", "typer", "rich", *HEAVY}


def test_methods_are_listed_without_loading_what_only_some_need():
    program = "import sys, podium.methods; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"sklearn", *HEAVY}


def test_no_path_of_a_machine_is_written_down():
    homes = "|".join(("root", "work", "home/[a-z]", "Users/[A-Za-z]"))
    pattern = re.compile(rf"(?<![\w.~*)}}\]-])/(?:{homes})(?:/|\b)")
    folders = [ROOT / part for part in ("src", "tests", "docs", "benchmarks", "examples", ".ci")]
    files = [file for folder in folders if folder.is_dir() for file in folder.rglob("*") if file.is_file()]
    files += [file for file in ROOT.glob("*.*") if file.suffix in {".md", ".toml"}]
    for file in files:
        if file.suffix in {".py", ".md", ".toml", ".json", ".sh", ".yml", ""} and "__pycache__" not in file.parts:
            for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                assert not pattern.search(line), f"{file.relative_to(ROOT)}:{number}: {line.strip()}"


def test_a_function_whose_sums_may_be_reordered_writes_to_no_array():
    """Else it has a second, plain form, and which of them runs depends on where in memory its arrays are."""
    for file in FILES:
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.FunctionDef) and any(
                "vectorised" in ast.dump(mark) for mark in node.decorator_list
            ):
                written = [inner for inner in ast.walk(node) if isinstance(inner, ast.Subscript | ast.Attribute)]
                assert not any(isinstance(inner.ctx, ast.Store) for inner in written), f"{name(file)}: {node.name}"
