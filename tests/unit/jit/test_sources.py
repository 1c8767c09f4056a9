"""The stamp of machine code: a change in any file that a kernel can reach changes it, and no other does."""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import podium
from podium.jit import sources
from podium.jit.sources import files_digest

PACKAGE = Path(podium.__file__).parent
COMPILED = re.compile(r"^ *@(compiled|vectorised|inlined|intrinsic|instruction|_written_for_llvm)\b|compiled\(", re.M)
OPERATOR = re.compile(r"(?<= )(\+|-|\*|<|>|==|&|\|)(?= )")


def modules(package: Path) -> dict[str, Path]:
    """Modules of a package by name."""
    paths = {".".join(path.relative_to(package.parent).with_suffix("").parts): path for path in package.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in paths.items()}


def imported(name: str, path: Path, names: set[str]) -> Iterator[str]:
    """Modules that a module or its stub imports, anywhere but for types, as Python's own parser sees them."""
    stub = path.with_name("__init__.pyi")
    tree = ast.parse(path.read_text() + (stub.read_text() if path.name == "__init__.py" and stub.exists() else ""))
    for_types = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for part in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            module = ".".join(filter(None, [name if node.level else None, node.module]))
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                yield whole if whole in names else module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield from (".".join(parts[: k + 1]) for k in range(len(parts)))


def reached(name: str, graph: dict[str, set[str]]) -> set[str]:
    seen, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += graph[module]
    return seen


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package that `sources` takes for podium, without what it has read of another."""
    copy = shutil.copytree(PACKAGE, tmp_path / "podium", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "_PACKAGE", copy)
    monkeypatch.setattr(sources, "STARTED", float("inf"))
    forget()
    yield copy
    forget()


def forget() -> None:
    for function in vars(sources).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def test_an_operator_flipped_anywhere_changes_the_stamp_of_every_kernel_that_can_reach_it(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = modules(package)
    contents = {path: sources._content(path) for path in files.values()}
    monkeypatch.setattr(sources, "_content", contents.__getitem__)  # which reads what has changed alone
    graph = {name: set(imported(name, path, set(files))) & set(files) for name, path in files.items()}
    kernels = {name: path for name, path in files.items() if COMPILED.search(path.read_text())}
    reach = {name: reached(name, graph) for name in kernels}
    before = {name: files_digest(name, path) for name, path in kernels.items()}
    assert len(kernels) > 140
    assert None not in before.values()
    for edited in sorted(set(kernels) | {"podium.jit.machine_code"}):
        path = files[edited]
        text = path.read_text()
        flipped = OPERATOR.sub(lambda found: "-" if found[0] == "+" else "+", text, count=1)
        path.write_text(flipped if flipped != text else text + "\n1 + 1\n")
        unedited, contents[path] = contents[path], hashlib.sha256(path.read_bytes()).hexdigest()
        files_digest.cache_clear()
        changed = {name for name, kernel in kernels.items() if files_digest(name, kernel) != before[name]}
        path.write_text(text)
        contents[path] = unedited
        assert changed == {name for name in kernels if edited in reach[name]}, edited


@pytest.mark.parametrize(
    "line",
    ["import helper", "import other, helper as h", "from helper import step", "from helper import (  # h\n    step,\n)",
     "x = 1; import helper", "if True: import helper", "def f():\n    from helper import step as s, other",
     "from helper import \\\n    step"],
)  # fmt: skip
def test_imports_of_every_form_are_followed(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sources, "STARTED", float("inf"))
    caller, helper = tmp_path / "caller.py", tmp_path / "helper.py"
    caller.write_text(f"{line}\n")
    helper.write_text("step = 1\n")
    forget()
    before = files_digest("caller", caller)
    helper.write_text("step = 2\n")
    forget()
    assert before is not None
    assert files_digest("caller", caller) != before
    forget()


def test_relative_imports_are_followed_within_their_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sources, "STARTED", float("inf"))
    (tmp_path / "parts" / "deep").mkdir(parents=True)
    for name, text in {"__init__": "", "helper": "step = 1\n", "deep/__init__": "", "deep/caller": ""}.items():
        (tmp_path / "parts" / f"{name}.py").write_text(text)
    caller = tmp_path / "parts" / "deep" / "caller.py"
    for line in ("from ..helper import step", "from .. import helper"):
        caller.write_text(line)
        (tmp_path / "parts" / "helper.py").write_text("step = 1\n")
        forget()
        before = files_digest("parts.deep.caller", caller)
        (tmp_path / "parts" / "helper.py").write_text("step = 2\n")
        forget()
        assert files_digest("parts.deep.caller", caller) != before
    forget()


def test_a_file_that_was_changed_after_the_process_started_has_no_stamp(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "views.py").touch()
    monkeypatch.setattr(sources, "STARTED", 0.0)
    assert files_digest("podium.jit.views", package / "views.py") is None
