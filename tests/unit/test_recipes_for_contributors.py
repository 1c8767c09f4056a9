"""The files that CONTRIBUTING.md shows pass the contract suites, each in its own process, as it registers itself."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^# (?:src/podium|outside)/(?:\w+/)?(\w+)\.py\n.*?(?=^```$)", re.MULTILINE | re.DOTALL)
FILES = {found[1]: found[0] for found in BLOCK.finditer(PAGE)}
CHECKS = {
    "huber": "from podium.testing import check_loss; check_loss(made.Huber(), reference=reference, examples=4)",
    "contaminated": "from podium.testing import check_distribution;"
    "check_distribution(made.Contaminated(), reference=reference)",
    "quadratic": "from podium.testing import check_scorer; check_scorer(made.Quadratic())",
    "steepest_descent": "from podium.testing import SOLVER_CHECKS;"
    "[check(made.SteepestDescent()) for check in SOLVER_CHECKS.values()]",
    "signed_log": "from podium.testing import check_transform; check_transform(made.SignedLog())",
    "power_gain": "from podium.testing import check_metric; check_metric(made.PowerGain(), reference=reference)",
    "inverse_square": "from podium.testing import check_aggregator; check_aggregator(made.InverseSquare())",
    "correlation": "from podium.testing import check_learner; check_learner(made.Correlation(), reaches=0.95)",
    "stocky": "from podium.testing import METHOD_CHECKS; from podium.methods import method;"
    "assert method('stocky') == made.STOCKY; [check(made.STOCKY) for check in METHOD_CHECKS.values()]",
}


def reference(name: str) -> str:
    """The slow version that the page shows, if it shows one."""
    found = re.search(rf"^def {name}\(.*?(?=^```$)", PAGE, re.MULTILINE | re.DOTALL)
    if found is None:
        return ""
    return f"import math\nfrom reference.distributions import plackett_luce\n{found[0]}\nreference = {name}\n"


def test_every_file_of_the_page_has_its_check():
    assert set(FILES) == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_file_made_by_the_page_passes_its_contract_suite(name, tmp_path):
    (tmp_path / f"{name}.py").write_text(FILES[name], encoding="utf-8")
    paths = [str(tmp_path), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    program = f"import {name} as made\n{reference(name)}{CHECKS[name]}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr
