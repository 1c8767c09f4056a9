"""Methods that are registered from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium import methods
from podium.base.errors import ParameterError, UnknownNameError
from podium.losses import ListNet
from podium.methods import METHODS, Method, method, register_method
from podium.recipe import Recipe

MINE = Method(Recipe(loss=ListNet()), {"penalty": (0.5, 5.0)}, "mine", doc="ListNet under a name of my own.\n\nUse: …")


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is gone after it."""
    monkeypatch.setattr(methods, "_ADDED", dict(methods._ADDED))
    return


def test_a_registered_method_is_listed_with_its_grid_and_page() -> None:
    register_method("mine-1", MINE)
    assert METHODS["mine-1"] is MINE
    assert list(METHODS)[-1] == "mine-1"
    assert method("mine-1(penalty=2)").grid == {}
    assert method("mine-1").grid == {"penalty": (0.5, 5.0)}
    assert method("mine-1").page().startswith("ListNet under a name of my own.")


def test_the_listing_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        METHODS["mine"] = MINE  # type: ignore[index]


def test_a_name_is_taken_once_but_the_same_method_may_come_again() -> None:
    register_method("mine", MINE)
    register_method("mine", MINE)
    with pytest.raises(ParameterError, match=r"There is a method 'mine' already: recipe\(loss=listnet\)"):
        register_method("mine", Method(Recipe()))
    with pytest.raises(ParameterError, match="There is a method 'listnet' already"):
        register_method("listnet", Method(Recipe()))


@pytest.mark.parametrize("name", ["", "My Method", "a,b", "a(b)", "a=b", "all", "recipe", "-a"])
def test_a_name_must_fit_the_grammar(name: str) -> None:
    with pytest.raises(ParameterError, match="A method cannot be called"):
        register_method(name, MINE)


def test_a_grid_that_the_learner_cannot_take_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"No parameter.*'penlty'. Did you mean 'penalty'"):
        register_method("mine", Method(Recipe(), {"penlty": (1.0,)}))
    with pytest.raises(ParameterError, match="penalty must be at least 0"):
        register_method("mine", Method(Recipe(), {"penalty": (-1.0,)}))


def test_a_plug_in_is_known_to_the_command_line_and_to_every_process(tmp_path: Path) -> None:
    (tmp_path / "my_plugin.py").write_text(
        "from podium.methods import Method, register_method\n"
        "from podium.algorithms import SingleFeature\n"
        "register_method('my-feature', Method(SingleFeature(), doc='The one feature that I trust.'))\n"
    )
    about = tmp_path / "my_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[podium]\nmine = my_plugin\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def run(*words: str) -> str:
        program = [sys.executable, "-m", "podium", *words]
        return subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout

    assert "The one feature that I trust." in run("methods")
    assert run("methods", "my-feature").startswith("my-feature: your own\n\nThe one feature that I trust.")
    program = (
        "from podium.data import Fold, make_letor_like, split; from podium.comparison import compare;"
        "fold = Fold(*split(make_letor_like(20, (4, 8), n_features=5, seed=1)[0]), name='one');"
        "print(*compare([fold], ['my-feature', 'random'], jobs=2).by_method)"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "my-feature random\n"
