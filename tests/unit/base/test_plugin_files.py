"""Plug-in files: custom code in a plain file is known to every command and process; its errors name their line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import podium
from podium.data import make_letor_like
from podium.formats import write_letor

PACKAGES = Path(podium.__file__).parents[1]  # of the podium under test, so that its machine code is used
LOSS = '''"""A loss and a metric of my own."""
from helpers_of_mine import SLOPE
from podium.base.registry import param, register
from podium.jit.compiled import compiled
from podium.losses.base import Loss
from podium.methods import Method, register_method
from podium.metrics.base import Metric
from podium.metrics.declaration import Conventions, Kernel
from podium.recipe import Recipe


@compiled
def over_grades(scores, labels, gradient, curvature, params):
    value = 0.0
    for i in range(len(scores)):
        error = SLOPE * (scores[i] - labels[i])
        value += 0.5 * error * error
        gradient[i] = SLOPE * error
        curvature[i] = SLOPE * SLOPE
    return value


@compiled
def measure(labels, ends, ideal, config):
    return 0.5


@register
class MyLoss(Loss):
    """Squared error."""

    shift_invariant = False
    convex = True
    grades = staticmethod(over_grades)


@register
class Half(Metric):
    """Always a half."""

    conventions = Conventions(cuts=False)
    kernel = Kernel(measure)


register_method("my-method", Method(Recipe(loss=MyLoss()), {"penalty": (0.1, 1.0)}))
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with data, and a folder of code in it."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mine.py").write_text(LOSS)
    (tmp_path / "code" / "helpers_of_mine.py").write_text("SLOPE = 1.5\n")
    write_letor(make_letor_like(20, (4, 6), n_features=4, seed=1)[0], tmp_path / "train.txt")
    return tmp_path


def podium(folder: Path, *words: str, code: str | None = None, **environment: str) -> Any:
    """Run the command line in a folder, in a process of its own, since names are registered for good."""
    call = [sys.executable, "-c", code] if code else [sys.executable, "-P", "-m", "podium", *words]
    others = os.environ.get("PYTHONPATH")  # an empty path would be the folder
    paths = os.pathsep.join([str(PACKAGES), *([others] if others else [])])
    settings = {**os.environ, "PYTHONPATH": paths, "PODIUM_THREADS": "1", "PODIUM_PLUGINS": "", **environment}
    return subprocess.run(call, cwd=folder, env=settings, capture_output=True, text=True, check=False, timeout=300)


def test_a_file_is_known_before_and_after_the_command_and_by_the_environment(folder: Path) -> None:
    method = ["train", "train.txt", "--method", "recipe(loss=my-loss)", "-m", "half"]
    first = podium(folder, "--plugin", "code/mine.py", *method)
    assert first.returncode == 0, first.stderr
    assert "held out by --valid 0.2 (the default): half 0.5000" in first.stdout
    for done in (
        podium(folder, *method, "--plugin=code/mine.py"),
        podium(folder, *method, PODIUM_PLUGINS="code/mine.py"),
    ):
        assert (done.returncode, done.stdout) == (0, first.stdout)
    unknown = podium(folder, *method)
    assert "No loss 'my-loss'" in unknown.stderr


@pytest.mark.slow
def test_processes_of_a_comparison_know_the_file(folder: Path) -> None:
    words = ["--method", "my-method", "--method", "recipe(loss=my-loss)", "-m", "half", "--jobs", "2", "-o", "out"]
    done = podium(folder, "compare", "train.txt", *words, "--plugin", "code/mine.py")
    assert done.returncode == 0, done.stderr
    assert (folder / "out" / "report.html").exists()
    assert "0.5000" in done.stdout


@pytest.mark.slow
def test_machine_code_of_a_file_is_kept_for_the_next_process(folder: Path) -> None:
    for path in (folder / "code").iterdir():
        os.utime(path, (1e9, 1e9))
    words = ["train", "train.txt", "--method", "recipe(loss=my-loss)", "--plugin", "code/mine.py"]
    caches = str(folder / "kernels")
    assert podium(folder, *words, NUMBA_CACHE_DIR=caches).returncode == 0
    kept = {path: path.stat().st_mtime_ns for path in (folder / "kernels").rglob("over_grades-*.podium")}
    assert len(kept) == 1
    assert podium(folder, *words, NUMBA_CACHE_DIR=caches).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "kernels").rglob("over_grades-*.podium")} == kept


def edited(folder: Path, before: str, after: str) -> Any:
    assert before in LOSS
    (folder / "code" / "mine.py").write_text(LOSS.replace(before, after, 1))
    return podium(folder, "train", "train.txt", "--method", "recipe(loss=my-loss)", "--plugin", "code/mine.py")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("@compiled\ndef over", "\ndef over", "mine.py:13: the kernel of my-loss is not compiled. Put @compiled"),
        ("@compiled\ndef measure", "\ndef measure", "mine.py:24: the kernel of a metric is not compiled."),
        ("labels[i])\n", "labels.first)\n",
         "mine.py:16: the kernel of my-loss 'over_grades' cannot be compiled: Unknown attribute"),
        ("    value = 0.0", "    value = labels[labels < -1.0].max()",
         "mine.py:13: the kernel of my-loss 'over_grades' raised ValueError: zero-size array"),
        ("convex = True", "convex = Tru", "mine.py:33: NameError: name 'Tru' is not defined"),
        ("class MyLoss(Loss):", "class MyLoss(Loss)", "mine.py:29: SyntaxError:"),
        ("class MyLoss(Loss):", "class RankNet(Loss):\n    name = 'ranknet'", "Two losses are called 'ranknet'"),
        ("import SLOPE", "import SLOPES", "mine.py:2: ImportError: cannot import name 'SLOPES'"),
    ],
)  # fmt: skip
def test_errors_of_custom_code_name_its_line(folder: Path, before: str, after: str, message: str) -> None:
    done = edited(folder, before, after)
    assert done.returncode in (1, 2)
    assert len(done.stderr.strip().splitlines()) <= 2, done.stderr  # the second says that functions are compiled
    assert message in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.py", "--plugin none.py: no such file. Give a file such as my.py."),
        ("train.txt", "--plugin train.txt: is not a Python file."),
        ("numpy.py", "'numpy' cannot be its name as a module, or is another module's. Rename it."),
        ("my-loss.py", "'my-loss' cannot be its name as a module"),
    ],
)
def test_what_is_no_plug_in_file_is_refused(folder: Path, path: str, message: str) -> None:
    if path.endswith(".py") and path != "none.py":
        (folder / path).write_text("")
    done = podium(folder, "methods", "--plugin", path)
    assert done.returncode in (1, 2)
    assert message in done.stderr


def test_a_loss_is_trained_and_checked_with_its_line(folder: Path) -> None:
    (folder / "code" / "mine.py").write_text(LOSS.replace("    value = 0.0", "    value = 0.0 * scores.max()"))
    code = """
import podium
from podium.losses import Loss
from podium.testing import check_loss
loss, data = Loss.parse("my-loss"), podium.read_data("train.txt")
print(podium.train(data, loss).learner, podium.train(data.features, data.labels, loss, qid=data.query_index).learner)
check_loss(loss)
"""
    done = podium(folder, code=code, PODIUM_PLUGINS="code/mine.py")
    assert done.stdout == "recipe(loss=my-loss) recipe(loss=my-loss)\n"
    last = done.stderr.strip().splitlines()[-1]
    assert "code/mine.py:13: the kernel of my-loss 'over_grades' raised ValueError for a query of 0 documents" in last
