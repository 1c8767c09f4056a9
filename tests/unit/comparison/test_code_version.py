"""The code that a result depends on: an edit changes its hash, and nothing else does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import podium
from podium.comparison.code_version import code_version
from podium.methods import method

pytestmark = pytest.mark.slow


def hashed(source: Path, *, script: Path | None = None) -> str:
    """The code version of listnet in a process that imports podium from a folder."""
    program = "from podium.comparison.code_version import code_version as v; from podium.methods import method as m"
    words = ["-c", f"{program}; print(v(m('listnet').learner))"] if script is None else [str(script)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of podium's source to edit."""
    skip = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    shutil.copytree(Path(podium.__file__).parent, tmp_path / "source/podium", ignore=skip)
    return tmp_path / "source"


def test_an_edited_kernel_is_other_code_and_an_edited_table_is_not(copied: Path) -> None:
    before = hashed(copied)
    assert before == code_version(method("listnet").learner)
    for room in ("cli", "export", "imports", "pages", "service", "testing"):
        files = list((copied / "podium" / room).rglob("*.*"))
        assert files, f"{room} has no file to edit"
        for path in files:
            with open(path, "a") as file:
                file.write("# a remark\n")
    assert hashed(copied) == before
    for edited in ("losses/listnet.py", "training.py"):
        with open(copied / "podium" / edited, "a") as file:
            file.write("# a remark\n")
        after = hashed(copied)
        assert after != before
        before = after


SCRIPT = """
from podium.comparison.code_version import code_version
from podium.losses import RankNet
from podium.recipe import Recipe
from podium.base.registry import register


@register
class MyLoss(RankNet):
    '''One of my own.'''


assert MyLoss.name == "my-loss"
print(code_version(Recipe(loss=MyLoss())))
"""


def test_the_module_that_registers_a_part_counts_too(copied: Path, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    first = hashed(copied, script=script)
    assert first != code_version(method("listnet").learner)
    assert hashed(copied, script=script) == first
    script.write_text(SCRIPT + "# a remark\n")
    assert hashed(copied, script=script) != first
