"""Where podium may be run: in forked processes, and where no folder can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import podium
from podium.base.errors import ParameterError
from podium.base.threads import default_threads
from podium.testing import linear_data

FORK = """
import os, sys
from pathlib import Path
import numpy as np
from podium.model import Model
from podium.testing import linear_data

when, folder = sys.argv[1:]
data = linear_data(300, 20)  # enough documents for several threads
for path in sorted(Path(folder).iterdir()):
    if when != "before loading":
        model = Model.load(path)
    if when == "after scoring":
        expected = model.score(data)
    child = os.fork()
    if child == 0:
        model = Model.load(path) if when == "before loading" else model
        os._exit(0 if np.isfinite(model.score(data)).all() else 1)
    assert os.waitpid(child, 0)[1] == 0, path
    if when == "after scoring":
        assert np.array_equal(model.score(data), expected), path
    print(path.name, flush=True)
"""
METHODS = {
    "lambdamart": "lambdamart(rounds=3)",
    "mcrank": "mcrank(rounds=2)",
    "gbrank": "gbrank(rounds=2)",
    "linear": "regression",
    "mlp": "ranknet(scorer=mlp)",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models of every form that scores on threads, in files."""
    folder = tmp_path_factory.mktemp("models")
    for name, method in METHODS.items():
        podium.train(linear_data(60, 20), method).save(folder / name)
    return folder


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
@pytest.mark.parametrize("when", ["before loading", "after loading", "after scoring"])
def test_a_forked_process_scores(when, models):
    environment = {**os.environ, "PODIUM_THREADS": "2"}
    program = [sys.executable, "-c", FORK, when, str(models)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == sorted(METHODS)


@pytest.mark.parametrize("text", ["²", "٣", "0", "-1", "1.5", "", " ", "1_0", "9" * 5000, "0x2"])
def test_threads_that_are_no_number_are_an_error_in_words(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_THREADS", text)
    with pytest.raises(ParameterError, match=r"^PODIUM_THREADS must be a whole number of at least 1; got '.{0,40}'\.$"):
        default_threads()


def test_a_command_runs_without_a_compiler(tmp_path: Path) -> None:
    podium.train(linear_data(20, 8), "regression").save(tmp_path / "model.podium")
    (tmp_path / "data.txt").write_text("1 qid:1 1:0.5 2:1 3:2\n0 qid:1 1:0.25 2:-1 3:0\n")
    known = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    for command in (["rank", "model.podium", "data.txt"], ["evaluate", "data.txt", "scores.txt"]):
        program = [sys.executable, "-m", "podium", *command]
        done = subprocess.run(
            program, cwd=tmp_path, env=known, timeout=100, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        (tmp_path / "scores.txt").write_text("1.0\n0.5\n")
    assert "1.0000" in done.stdout


NOWHERE = "/dev/null/nowhere"  # cannot be made, not even by root


def test_where_no_folder_can_be_written_functions_are_compiled_in_memory(tmp_path):
    package = shutil.copytree(Path(podium.__file__).parent, tmp_path / "podium", ignore=lambda *_: ["__pycache__"])
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file, so that no folder of this name can be made")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(tmp_path), "HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE}
    program = (
        "import podium.methods, numpy; from podium.kernels.blocks import clear;"
        "gradient = numpy.ones(2); clear(gradient, numpy.ones(2));"
        "print(podium.__file__, *gradient)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, timeout=300, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(package / "__init__.py"), "0.0", "0.0"]
    assert not list(tmp_path.rglob("*.podium"))
