"""The examples for contributors pass their own tests, in processes of their own, since they register themselves."""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import podium

ROOT = Path(__file__).parents[2]
PACKAGES = Path(podium.__file__).parents[1]  # of the podium under test, so that its machine code is used
FOLDER = ROOT / "examples" / "plugins"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("test_"))
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<kind>[^|]+) \|.*\[`\w+`\]\(examples/plugins/(?P<example>\w+)\.py\) \|$", re.MULTILINE)
ROWS = {row["kind"]: row["example"] for row in ROW.finditer(PAGE)}


@pytest.mark.slow
@pytest.mark.parametrize("names", [EXAMPLES[::2], EXAMPLES[1::2]], ids=["one half", "the other"])
def test_the_examples_pass_their_own_tests(names):
    paths = [str(PACKAGES), os.environ.get("PYTHONPATH", "")]
    files = [FOLDER / f"test_{name}.py" for name in names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *files],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, capture_output=True, text=True,
        check=False, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_page_on_a_custom_loss_trains_with_it(tmp_path):
    page = (ROOT / "docs" / "how-to" / "custom-loss.md").read_text(encoding="utf-8")
    exec(page.partition("```python\n")[2].partition("with open")[0], names := {})
    (tmp_path / "log_cosh.py").write_text(names["loss"])
    data, _ = podium.make_letor_like(8, (4, 6), n_features=8, seed=1)
    podium.write_letor(data, tmp_path / "DATA")
    command = shlex.split(page.partition("```sh\npodium ")[2].partition("\n")[0])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGES), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-m", "podium", *command], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=500,
    )  # fmt: skip
    assert "recipe(loss=log-cosh" in done.stdout, done.stdout + done.stderr


def test_the_page_has_an_example_for_every_kind_of_registered_thing():
    assert kinds() | {"named method"} == set(ROWS)
    assert sorted(ROWS.values()) == EXAMPLES


def kinds() -> set[str]:
    """The kinds of registered things: `kind` of every direct subclass of Named in the sources."""
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "(Named)" in text else ():
            if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "Named" for b in node.bases):
                found |= {
                    line.value.value
                    for line in node.body
                    if isinstance(line, ast.AnnAssign) and line.target.id == "kind"
                }
    return found
