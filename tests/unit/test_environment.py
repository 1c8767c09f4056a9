"""Where podium may be run: in forked processes, and where no folder can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import podium
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
    done = subprocess.run(program, env=environment, timeout=100, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == sorted(METHODS)


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
