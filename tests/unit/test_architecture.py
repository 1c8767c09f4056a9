"""The architecture, kept by tests: layers, one file per named thing, short functions, nothing heavy at import."""

import ast
import functools
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from layers import HEIGHT, draw
from podium.aggregation import Aggregator, SupervisedAggregator
from podium.clicks import ClickModel, Labelling
from podium.distributions import RankingDistribution
from podium.export import Target
from podium.learner import Learner
from podium.losses import Loss
from podium.methods import METHODS
from podium.metrics import Metric
from podium.online.interleaving import Interleaving
from podium.online.learning import OnlineLearner
from podium.pickers import Picker
from podium.propensities import Estimator
from podium.rerankers import Reranker
from podium.scorers import Scorer
from podium.solvers import Solver
from podium.text.analyser import Analyser
from podium.text.features import Feature
from podium.text.retrieval import Retrieval
from podium.transforms import Transform

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "podium"
FILES = sorted(SOURCE.rglob("*.py"))

KINDS = {
    "aggregation": [Aggregator, SupervisedAggregator],
    "rerankers": [Reranker],
    "pickers": [Picker],
    "distributions": [RankingDistribution],
    "losses": [Loss],
    "scorers": [Scorer],
    "solvers": [Solver],
    "transforms": [Transform],
    "metrics": [Metric],
    "algorithms": [Learner],
    "ensembles": [Learner],
    "clicks.labellings": [Labelling],
    "clicks.models": [ClickModel],
    "online.interleaving": [Interleaving],
    "online.learning": [OnlineLearner],
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
    "dask",
    "optuna",
    "onnx",
    "onnxruntime",
    "xgboost",
    "catboost",
)
SERVING = ("starlette", "msgspec", "uvicorn", "prometheus_client")
"""Packages of the extra `serve`, which the service alone needs."""


def name(file):
    return str(file.relative_to(SOURCE))


@functools.cache
def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def nodes(file):
    """Every node of a file."""
    return list(ast.walk(tree(file)))


@pytest.fixture(scope="module", autouse=True)
def _forget_trees():
    """A million objects would be in the way of the tests that follow."""
    yield
    nodes.cache_clear()
    tree.cache_clear()


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
    for node in nodes(file):
        for module in imported(node):
            if module.startswith("podium."):
                yield node.lineno, module.split(".")[1]


def test_a_module_imports_from_its_own_layer_or_lower_ones():
    for file in FILES:
        if file == SOURCE / "__init__.py":
            continue
        own = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        assert own in HEIGHT, f"{own} has no layer: add it to LAYERS in tests/layers.py"
        for line, other in podiums(file):
            if other.startswith("__"):
                continue  # podium.__version__
            assert other in HEIGHT, f"{other} has no layer: add it to LAYERS in tests/layers.py"
            assert HEIGHT[other] <= HEIGHT[own], f"{name(file)}:{line}: {own} is below {other} and must not import it"


ONE_THING_A_FILE = ("losses", "metrics", "transforms", "aggregation", "cli")
"""Folders in which each file is one registered thing or one command."""


def test_the_top_level_tells_the_story_and_rooms_are_small():
    assert len(list(SOURCE.glob("*.py"))) <= 12
    for folder in {file.parent for file in FILES}:
        if name(folder) not in ONE_THING_A_FILE:
            assert len(list(folder.glob("*.py"))) <= 25, f"{name(folder)} has more than 25 files: make rooms"


def test_few_files_share_a_name():
    stems = Counter(
        file.stem
        for file in FILES
        if file.relative_to(SOURCE).parts[0] not in ("testing", "cli") and not file.stem.startswith("__")
    )
    assert sum(count > 1 for count in stems.values()) <= 12, [stem for stem, count in stems.items() if count > 1]


def test_only_jit_imports_numba():
    for file in FILES:
        tops = {module.split(".")[0] for node in nodes(file) for module in imported(node)}
        assert file.parent == SOURCE / "jit" or not tops & {"numba", "llvmlite"}, name(file)


def test_aliases_of_arrays_are_defined_once():
    for file in FILES:
        for node in tree(file).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("NDArray["):
                assert file == SOURCE / "base" / "arrays.py", f"{name(file)}:{node.lineno}: it is in base/arrays.py"


def test_parameters_say_their_types():
    parameters = [
        ast.unparse(parameter.annotation)
        for file in FILES
        for node in nodes(file)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if parameter.annotation is not None
    ]
    assert parameters.count("Any") <= 0.1 * len(parameters), f"{parameters.count('Any')} of {len(parameters)} are Any"


def test_the_map_shows_the_layers():
    assert (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8") == draw(), "python -m tests.layers"
    rooms = {file.relative_to(SOURCE).parts[0].removesuffix(".py") for file in FILES} - {"__init__"}
    assert rooms == set(HEIGHT), "tests/layers.py lists a room that is not there, or lacks one"


def test_the_map_names_files_that_are_there():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for file in re.findall(r"`([\w/]+\.py)`", page):
        assert (SOURCE / file).is_file() or (ROOT / file).is_file(), f"docs/architecture.md: {file}"


def catalogue(folder):
    """Everything registered of the folder's kinds, by name."""
    return {name: cls for kind in KINDS[folder] for name, cls in kind.catalogue().items()}


def registering(folder):
    """(module, class) of every class that a file of the folder registers."""
    home = SOURCE.joinpath(*folder.split("."))
    for file in sorted(home.rglob("*.py")):
        for node in tree(file).body:
            if isinstance(node, ast.ClassDef) and any("register" in ast.dump(mark) for mark in node.decorator_list):
                yield ".".join(file.relative_to(home).with_suffix("").parts), node.name


@pytest.mark.parametrize("folder", KINDS)
def test_the_folder_is_the_registry(folder):
    known = {(cls.__module__, cls.__name__) for cls in catalogue(folder).values()}
    for module, cls in registering(folder):
        line = f"from .{module} import {cls} as {cls}"
        assert (f"podium.{folder}.{module}", cls) in known, f"add to {folder}/__init__.pyi: {line}"
    there = set(registering(folder))
    for module, cls in known:
        if module.startswith(f"podium.{folder}."):
            assert (module.removeprefix(f"podium.{folder}."), cls) in there


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
        assert hasattr(package, cls), f"{folder}/__init__.pyi does not import {cls}"


def test_an_exported_name_is_not_hidden_by_a_module_of_its_name():
    stubs = [str(stub.relative_to(SOURCE.parent)) for stub in sorted(SOURCE.rglob("__init__.pyi"))]
    program = f"""
import ast, contextlib, importlib, pathlib, pkgutil
import podium.base.errors
packages = [(stub, importlib.import_module(".".join(stub.parts[:-1]))) for stub in map(pathlib.Path, {stubs})]
for _, package in packages:
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if not module.name.endswith(("__main__", ".sklearn")):
            with contextlib.suppress(podium.base.errors.MissingPackageError):  # an adapter of what is not installed
                importlib.import_module(module.name)
for stub, package in packages:
    for node in ast.parse(({str(SOURCE.parent)!r} / stub).read_text(encoding="utf-8")).body:
        for alias in node.names if node.module else ():
            home = importlib.import_module(f"{{package.__name__}}.{{node.module}}")
            assert getattr(package, alias.name) is getattr(home, alias.name), (package.__name__, alias.name)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


DISTRIBUTIONS = {
    "sklearn": "scikit-learn", "stemmer": "pystemmer", "yaml": "pyyaml", "haystack": "haystack-ai",
    "llama-index": "llama-index-core", "mlflow": "mlflow-skinny",
}  # fmt: skip
"""Distributions whose name is not that of the package to import."""


def test_every_package_that_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for group in groups for line in group}
    for file in FILES:
        for node in run_time(tree(file)):
            for module in imported(node):
                top = module.partition(".")[0]
                package = top.lower().replace("_", "-")
                own = not top or top == "podium" or top in sys.stdlib_module_names
                assert own or DISTRIBUTIONS.get(package, package) in declared, f"{name(file)}: declare {top}"


def run_time(node):
    """The parts of a module, without those that are for type checkers alone."""
    for part in ast.iter_child_nodes(node):
        if not (isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"):
            yield part
            yield from run_time(part)


def test_only_the_estimator_needs_scikit_learn():
    for file in FILES:
        for node in nodes(file):
            assert file == SOURCE / "sklearn.py" or not any(m.split(".")[0] == "sklearn" for m in imported(node)), file


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
        for node in nodes(file):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1
                assert lines <= 60, f"{name(file)}:{node.lineno}: {node.name} has {lines} lines; split it"


def test_no_code_is_ever_read_from_data():
    for file in FILES:
        if file == SOURCE / "jit" / "disk_cache.py":  # numba's own machine code, of files that this user or root owns
            continue
        for node in nodes(file):
            for module in imported(node):
                top = module.split(".")[0]
                assert top not in {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}, (
                    f"{name(file)}: {top}"
                )
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile", "__import__"}, f"{name(file)}:{node.lineno}"


def test_heavy_packages_are_imported_where_they_are_used():
    for file in FILES:
        heavy = HEAVY if name(file).startswith("service/") else HEAVY + SERVING
        for node in tree(file).body:
            for module in imported(node):
                assert module.split(".")[0] not in heavy, f"{name(file)}:{node.lineno}: import {module} in the function"


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


def test_listing_methods_imports_no_loss_or_metric_but_the_default_loss():
    program = (
        "import sys; from podium.cli.methods import methods; methods(None); from podium.base.registry import Named; "
        "print(*Named._catalogues.get('loss', {}), *Named._catalogues.get('metric', {}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert all(f"\n{method} " in done.stdout for method in METHODS)
    assert done.stderr.split() == ["ranknet"]  # the default of a recipe


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
        for node in nodes(file):
            if isinstance(node, ast.FunctionDef) and any(
                "vectorised" in ast.dump(mark) for mark in node.decorator_list
            ):
                written = [inner for inner in ast.walk(node) if isinstance(inner, ast.Subscript | ast.Attribute)]
                assert not any(isinstance(inner.ctx, ast.Store) for inner in written), f"{name(file)}: {node.name}"
