"""Machine code of an earlier process is called without numba, and numba does what it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from podium.stored_code import kind_of, kinds_of_signature

PROGRAM = """
import sys
import numpy as np
from podium import compiled
from podium.compiled import address, function_at

REAL = "float64(float64[::1])"
real_at = function_at(REAL)

@compiled.compiled
def total(x):
    if len(x) == 0:
        raise ValueError("nothing to add")
    sorted_x = np.sort(x)
    return sorted_x.sum() + {constant}

@compiled.compiled
def through(place, x):
    return real_at(place)(x) * 2.0

compiled.prefer_stored()
x = np.arange(4.0)
print(total(x), through(address(total, REAL), x), total(x[::2]), "numba" in sys.modules)
try:
    total(np.zeros(0))
except ValueError as error:
    print(error)
print(total(np.arange(3)), "numba" in sys.modules)
"""


def run(folder: Path, constant: float = 1.0, **settings: str) -> list[str]:
    (folder / "program.py").write_text(PROGRAM.format(constant=constant))
    known = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **settings}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env=known, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder whose program was run once."""
    folder = tmp_path_factory.mktemp("stored")
    assert run(folder) == ["7.0 14.0 3.0 True", "nothing to add", "4.0 True"]
    return folder


def test_the_second_process_needs_numba_for_errors_alone(folder):
    assert run(folder) == ["7.0 14.0 3.0 False", "nothing to add", "4.0 True"]


def test_settings_of_numba_are_heeded_by_numba(folder):
    assert run(folder, NUMBA_CPU_NAME="generic")[0] == "7.0 14.0 3.0 True"


def test_a_damaged_file_is_left_to_numba(folder):
    files = list((folder / "cache" / "podium").iterdir())
    assert files
    kept = {file: file.read_bytes() for file in files}
    for cut in (10, -1):
        for file in files:
            file.write_bytes(kept[file][:cut])
        assert run(folder)[0] == "7.0 14.0 3.0 True"
    for file in files:
        file.write_bytes(kept[file])


def test_changed_code_is_compiled_again(folder):
    assert run(folder, constant=2.0)[0] == "8.0 16.0 4.0 True"
    assert run(folder, constant=2.0)[0] == "8.0 16.0 4.0 False"


@pytest.mark.parametrize(
    "value",
    [2**63, -(2**63) - 1, "text", None, (1, 2), np.float32(1.0), np.zeros(2, "c16"), np.array(["a"]), np.ma.zeros(2)],
    ids=repr,
)
def test_what_is_neither_a_plain_array_nor_a_number_is_left_to_numba(value):
    assert kind_of(value) is None


def test_a_signature_names_the_kinds_of_its_arguments():
    x = np.zeros((2, 3))
    kinds = kinds_of_signature("void(float64[:, ::1], float64[::1, :], float64[:], int64, boolean[::1])")
    assert kinds == tuple(map(kind_of, (x, np.asfortranarray(x), x[:, 0], 1, np.zeros(2, bool))))
