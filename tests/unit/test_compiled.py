"""Compiled functions and their disk cache."""

import os
import subprocess
import sys
from pathlib import Path

CALLER = """
from podium.compiled import compiled
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
from podium.compiled import compiled

STEP = {step}

@compiled
def step(x):
    return x + STEP
"""


def run(folder: Path) -> list[str]:
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "caller.py"], cwd=folder, env=settings, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_function_is_compiled_again_after_what_it_calls_in_another_file_has_changed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "helper.py").write_text(HELPER.format(step=10.0))
    assert run(tmp_path)[:2] == ["12.0", "12.0"]
    (tmp_path / "helper.py").write_text(HELPER.format(step=20.0))  # of the same length, in the other file
    assert run(tmp_path)[:2] == ["22.0", "22.0"]


def test_functions_and_closures_come_from_the_cache_while_nothing_has_changed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "helper.py").write_text(HELPER.format(step=10.0))
    assert run(tmp_path)[2:] == ["0", "0"]
    assert run(tmp_path)[2:] == ["1", "1"]
