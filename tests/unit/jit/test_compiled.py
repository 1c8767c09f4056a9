"""Compiled functions and their disk cache: what is loaded from it, and what is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import podium
from podium.jit.compiled import address, compiled, function_at, vectorised

CALLER = """
from podium.jit.compiled import compiled
import helper

def make(part):
    def closure(x):
        return part(x) + 1.0
    return compiled(closure)

@compiled
def caller(x):
    return helper.step(x) + 1.0

made = make(helper.step)
print(caller(1.0), made(1.0), *(sum(f.stats.cache_hits.values()) for f in (caller, made)))
"""
HELPER = """
from podium.jit.compiled import compiled

STEP = {step}

@compiled
def step(x):
    return x + STEP
"""


def run(folder: Path, program: str = "caller.py", *arguments: str, **settings: str) -> list[str]:
    once = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python's own cache misses an edit of the same length in the same second
    environment = {**os.environ, **once, "NUMBA_CACHE_DIR": str(folder / "cache"), **settings}
    environment = {name: value for name, value in environment.items() if value != "unset"}
    done = subprocess.run(
        [sys.executable, program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program of two files."""
    return written(tmp_path)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a folder whose functions are compiled; every test that takes it leaves it so."""
    folder = written(tmp_path_factory.mktemp("ready"))
    assert run(folder) == ["12.0", "12.0", "0", "0"]
    return folder


def written(folder: Path) -> Path:
    (folder / "caller.py").write_text(CALLER)
    (folder / "helper.py").write_text(HELPER.format(step=10.0))
    return folder


def test_a_function_is_compiled_again_after_what_it_calls_in_another_file_has_changed(folder: Path) -> None:
    assert run(folder)[:2] == ["12.0", "12.0"]
    (folder / "helper.py").write_text(HELPER.format(step=20.0))  # of the same length, in the other file
    assert run(folder)[:2] == ["22.0", "22.0"]


def test_functions_and_closures_come_from_the_cache_while_nothing_has_changed(ready: Path) -> None:
    assert run(ready) == ["12.0", "12.0", "1", "1"]


CLOSURES = """
import sys
import numpy as np
from podium.jit.compiled import compiled

def make(step):
    @compiled
    def inner(x, n):  # too long to be copied into its caller
        total = 0.0
        for i in range(n):
            for j in range(i, n):
                total += np.sin(x * i) * np.cos(x * j) + np.exp(-x * i * j) + np.arctan(x + j) * np.log(1.0 + i * j)
                total -= np.tanh(x * i) * np.sinh(x * j) - np.exp(-x * i - j) - np.arctan(x * j) * np.log(2.0 + i + j)
        return step + 0.0 * total

    @compiled
    def outer(x, n):
        total = inner(x, n)
        for i in range(n):
            total = max(total, inner(x + i, n))
        return total

    return outer

print(*(make(float(step))(0.1, 2) for step in sys.argv[1:]))
"""


def test_closures_of_one_name_that_two_processes_compiled_are_told_apart(tmp_path: Path) -> None:
    """Each is the first of its process: numba gives both the same number, by which alone it tells them apart."""
    (tmp_path / "closures.py").write_text(CLOSURES)
    assert run(tmp_path, "closures.py", "10") == ["10.0"]
    assert run(tmp_path, "closures.py", "20") == ["20.0"]
    assert run(tmp_path, "closures.py", "10", "20") == ["10.0", "20.0"]
    assert run(tmp_path, "closures.py", "20", "10", "30") == ["20.0", "10.0", "30.0"]


def test_functions_that_check_every_index_are_kept_apart(ready: Path) -> None:
    assert run(ready, NUMBA_BOUNDSCHECK="1")[2:] == ["0", "0"]
    assert run(ready, NUMBA_BOUNDSCHECK="1")[2:] == ["1", "1"]
    assert run(ready)[2:] == ["1", "1"]


def test_damaged_files_are_compiled_again(folder: Path) -> None:
    run(folder)
    files = sorted((folder / "cache").rglob("*.podium"))
    assert len(files) == 3
    rng = np.random.default_rng(0)
    for file in files:
        content = bytearray(file.read_bytes())
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        file.write_bytes(content)
    assert run(folder) == ["12.0", "12.0", "0", "0"]
    assert run(folder)[2:] == ["1", "1"]
    for file in files:
        file.write_bytes(file.read_bytes()[:-1])
    assert run(folder) == ["12.0", "12.0", "0", "0"]


def test_files_that_others_may_write_are_not_loaded(ready: Path) -> None:
    for file in (ready / "cache").rglob("*.podium"):
        file.chmod(0o666)
    assert run(ready) == ["12.0", "12.0", "0", "0"]
    assert run(ready)[2:] == ["1", "1"]


@pytest.mark.parametrize("place", ["", "podium-cache", "./"])
def test_a_cache_folder_of_the_user_that_is_empty_or_relative_is_never_looked_for_in_the_current_one(
    folder: Path, place: str
) -> None:
    (folder / "__pycache__").write_text("a file, so that no folder of this name can be made")
    settings = {"NUMBA_CACHE_DIR": "unset", "XDG_CACHE_HOME": place, "HOME": str(folder / "home")}
    assert run(folder, **settings)[:2] == ["12.0", "12.0"]
    kept = {path.relative_to(folder).parts[0] for path in folder.rglob("*.podium")}
    assert kept == {"home"}


def test_code_of_an_edit_made_while_the_process_runs_is_not_kept(folder: Path) -> None:
    edit = "\nimport pathlib, helper\npathlib.Path('helper.py').write_text(pathlib.Path('new.py').read_text())\n"
    (folder / "new.py").write_text(HELPER.format(step=20.0))
    (folder / "slow.py").write_text(CALLER.replace("\nmade = ", f"{edit}\nmade = "))
    settings = {"PYTHONDONTWRITEBYTECODE": "1"}  # whose stamps are whole seconds
    assert run(folder, "slow.py", **settings)[:2] == ["12.0", "12.0"]  # imported before the edit
    assert run(folder, "slow.py", **settings)[:2] == ["22.0", "22.0"]


EVERYTHING = """
import numpy as np
from podium.jit.compiled import compiled
from podium.parsing.ids import Ids
from podium.losses.regression import Regression
from podium.metrics.kernels import CUTOFF
from podium.metrics.precision import Precision
from podium.scorers.trees.quickscorer import scorer
from podium.jit.views import view

@compiled
def size(x):
    return len(view(x, 1, 3))

out = np.zeros(3)
table = np.array([[0, 0, 0]])
scorer(8)(np.array([[1.0], [2.0], [3.0]], np.float32), table, np.array([0, 1]), np.array([0, 2]), np.zeros(1, np.int32),
          np.array([1.5], np.float32), np.array([0xFFFFFFFE], np.uint32), np.array([5.0, 7.0]), out)
gradient, curvature, params = np.zeros(2), np.zeros(2), np.zeros((2, 1))
loss = Regression.grades(np.array([1.0, 3.0]), np.array([0.0, 2.0]), gradient, curvature, params)
config = np.ones(8)
config[CUTOFF] = 2.0
measure = Precision.kernel.measure(np.array([1.0, 0.0, 1.0]), np.arange(1, 4), np.array([1.0, 1.0, 0.0]), config)
print(out.sum(), size(np.arange(4.0)), Ids.of(["b", "a"]).ranks().tolist()[0], loss, measure)
"""
EDITS = {
    "jit/lanes.py": ("builder.and_(builder.load(alive), kept)", "builder.or_(builder.load(alive), kept)"),
    "jit/views.py": ("builder.sub(arguments[2], arguments[1])", "builder.add(arguments[2], arguments[1])"),
    "parsing/ids.py": ("return x < y", "return x > y"),
    "losses/regression.py": ("error = scores[i] - target", "error = scores[i] + target"),
    "metrics/precision.py": ("config) / divisor(len", "config) * divisor(len"),
}


@pytest.mark.slow
def test_an_edit_of_any_file_that_kernels_are_made_of_is_seen_with_a_warm_cache(tmp_path: Path) -> None:
    source = Path(podium.__file__).parent
    package = shutil.copytree(source, tmp_path / "podium", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "everything.py").write_text(EVERYTHING)
    settings = {"PYTHONPATH": str(tmp_path), "PODIUM_COMPILE": "always"}
    before = run(tmp_path, "everything.py", **settings)
    assert run(tmp_path, "everything.py", **settings) == before
    for name, (old, new) in EDITS.items():
        text = (package / name).read_text()
        assert text.count(old) == 1, name
        (package / name).write_text(text.replace(old, new))
    after = run(tmp_path, "everything.py", **settings)
    assert [a != b for a, b in zip(before, after, strict=True)] == [True] * len(before)


OUTLINED = """
import numpy as np
from podium.jit.compiled import counting_compilations
import outside, inside
with counting_compilations() as compiled:
    print(outside.caller(np.array([1.0, 2.0])), inside.long(np.array([1.0, 2.0])), len(compiled))
"""
INSIDE = """
from podium.jit.compiled import outlined

@outlined("float64(float64[::1])")
def long(x):
    return x[0] + {step}
"""
OUTSIDE = """
from podium.jit.compiled import compiled
from inside import long

@compiled
def caller(x):
    return long(x) + long(x[1:])
"""


def test_an_outlined_function_is_called_also_from_machine_code_of_the_cache(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(OUTLINED)
    (tmp_path / "inside.py").write_text(INSIDE.format(step=10.0))
    (tmp_path / "outside.py").write_text(OUTSIDE)
    assert run(tmp_path, "main.py") == ["23.0", "11.0", "3"]  # the caller, and the outlined for it and for Python
    assert run(tmp_path, "main.py") == ["23.0", "11.0", "0"]
    (tmp_path / "inside.py").write_text(INSIDE.format(step=20.0))
    assert run(tmp_path, "main.py", PYTHONDONTWRITEBYTECODE="1")[:2] == ["43.0", "21.0"]


def test_the_address_of_a_function_can_be_called() -> None:
    assert call(address(half, POINT), 3.0) == 1.5


def test_a_sum_that_may_be_reordered_has_the_same_bits_wherever_it_is_called() -> None:
    x = np.random.default_rng(0).lognormal(sigma=3.0, size=10_001)
    assert shifted(x) == total(x[1:])


def test_a_function_that_calls_itself_is_compiled() -> None:
    assert factorial(5) == 120
    assert doubled(5) == 240


POINT = "float64(float64)"
at = function_at(POINT)


@compiled
def half(x: float) -> float:
    return 0.5 * x


@compiled
def call(where: int, x: float) -> float:
    return at(where)(x)  # type: ignore[no-any-return]


@vectorised
def total(x: np.ndarray) -> float:
    value = 0.0
    for i in range(len(x)):
        value += x[i] * x[i]
    return value


@compiled
def shifted(x: np.ndarray) -> float:
    return total(x[1:])


@compiled
def factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@compiled
def doubled(n: int) -> int:
    return 2 * factorial(n)


BRANCHES = """
import numpy as np
from podium.jit.compiled import counting_compilations
import outside
for value in (1.0, -1.0):
    with counting_compilations() as compiled:
        print(outside.caller(np.array([value])), len(compiled))
"""
BRANCH = """
from podium.jit.compiled import compiled
from inside import long

@compiled
def caller(x):
    return long(x) if x[0] < 0.0 else x[0]
"""


def test_an_outlined_function_is_compiled_when_it_is_first_called(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(BRANCHES)
    (tmp_path / "inside.py").write_text(INSIDE.format(step=10.0))
    (tmp_path / "outside.py").write_text(BRANCH)
    assert run(tmp_path, "main.py") == ["1.0", "1", "9.0", "1"]  # the caller; then the branch, which now runs
    assert run(tmp_path, "main.py") == ["1.0", "0", "9.0", "0"]
