"""The program as a whole: imports, help, and what errors look like."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.base import errors
from podium.cli import console
from programs import LONG, PODIUM

Podium = Callable[..., Any]
COMMANDS = ["demo", "methods", "check", "train", "rank", "evaluate", "compare"]


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("module", ["podium", "podium.cli.main"])
def test_nothing_heavy_is_imported_before_a_command_runs(module: str) -> None:
    heavy = "{'numpy', 'numba', 'scipy', 'lightgbm', 'sklearn', 'pandas', 'polars', 'pyarrow', 'narwhals'}"
    assert python(f"import sys, {module}; print({heavy} & set(sys.modules))") == "set()\n"


def test_public_names_are_what_they_say() -> None:
    import podium

    assert set(podium.__all__) == set(dir(podium))
    for name in podium.__all__:
        assert getattr(podium, name) is not None
    with pytest.raises(AttributeError, match="podium attribute trian"):
        podium.trian  # noqa: B018
    assert podium.__version__


def test_help_explains_every_command(podium: Podium) -> None:
    for words in ([], ["--help"], ["-h"]):
        result = podium(*words)
        assert result.exit_code == 0
        assert all(command in result.stdout for command in COMMANDS)
    for command in COMMANDS:
        result = podium(command, "--help")
        assert result.exit_code == 0
        assert "Usage: podium" in result.stdout


def test_the_version_is_printed(podium: Podium) -> None:
    from podium.base.version import version

    assert podium("--version").stdout == f"podium {version()}\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["trian"], "podium: No such command 'trian'. "),
        (["train"], "podium: Missing argument"),
        (["train", "x", "--speed"], "podium: No such option"),
        (["--speed"], "podium: No such option"),
        (["train", "x", "--seed", "-1"], "podium: Invalid value for '--seed'"),
        (["train", "x", "--method", "lamdamart"], "podium: No method 'lamdamart'. Did you mean 'lambdamart'"),
        (["train", "x", "--method", "listnet(penlty=1)"], "podium: No parameter 'penlty'. Did you mean 'penalty'"),
        (["train", "x", "--method", "listnet(penalty=-1)"], "podium: lbfgs: penalty must be at least 0"),
        (["train", "x", "-m", "ndgc@10"], "podium: No metric 'ndgc'"),
        (["train", "x", "-o", "-"], "podium: -o -: a model is not text"),
        (["rank", "m", "x", "--format", "xml"], "podium: Invalid value for '--format'"),
        (["evaluate", "-", "x"], "podium: Only the second file can be standard input"),
        (["compare", "x"], "podium: Missing option '--method'"),
        (["compare", "x", "--method", "listnet", "--preset", "letr3"], "podium: No preset 'letr3'"),
        (["methods", "nonsense"], "podium: No method or part 'nonsense'"),
        (
            ["train", "x", "--method", "squared-hinge"],
            "podium: 'squared-hinge' is a loss, not a method. Train it as 'recipe(loss=squared-hinge)'.",
        ),
        (["train", "x", "--method", "svmrank"], "podium: No method 'svmrank'. Did you mean 'ranking-svm'?"),
        (["train", "x", "--method", "LambdaMART"], "podium: No method 'LambdaMART'. Did you mean 'lambdamart'?"),
        (["train", "x", "--method", "listnet(eta=9)"], "podium: No parameter 'eta'."),
        (
            ["train", "x", "--method", "lambdamart(colsample_bylevel=0.5)"],
            "podium: No parameter 'colsample_bylevel': ",
        ),
    ],
)
def test_misuse_is_one_line_and_exit_2(podium: Podium, words: list[str], line: str) -> None:
    result = podium(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["train", "none.txt"], "podium: none.txt: no such file."),
        (["compare", "none.txt", "--method", "random"], "podium: none.txt: no such file or folder."),
        (["rank", "none.podium", "x"], "podium: none.podium: no such model file."),
        (["evaluate", "none.txt", "x"], "podium: none.txt: no such file."),
        (["check", "none.txt"], "podium: none.txt: no such file."),
        (["train", "none.txt", "-o", "nowhere/m.podium"], "podium: -o nowhere/m.podium: the folder"),
        (["rank", "none.podium", "x", "-o", "nowhere/s"], "podium: -o nowhere/s: the folder"),
        (["compare", "none.txt", "--method", "random", "-o", "nowhere/d"], "podium: -o nowhere/d: the folder"),
        (["demo", "-o", "nowhere/d"], "podium: -o nowhere/d: the folder"),
    ],
)
def test_failure_is_one_line_and_exit_1(podium: Podium, words: list[str], line: str) -> None:
    result = podium(*words)
    assert result.exit_code == 1
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_the_traceback_is_shown_with_debug_wherever_it_stands(podium: Podium) -> None:
    for words in (["--debug", "train", "none.txt"], ["train", "none.txt", "--debug"]):
        result = podium(*words)
        assert isinstance(result.exception, errors.DataError)


def test_an_error_of_ours_is_one_line_too(podium: Podium, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("podium.formats.read_data", broken)
    result = podium("train", "x")
    assert result.exit_code == 1
    assert result.stderr == "podium: internal error: RuntimeError: two lines (the traceback: add --debug)\n"


def test_an_interruption_is_one_line_and_exit_130(podium: Podium, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("podium.formats.read_data", interrupted)
    result = podium("train", "x")
    assert result.exit_code == 130
    assert result.stderr == "podium: interrupted.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full, as Linux has one")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_line(unbuffered: str) -> None:
    command, environment = [sys.executable, "-m", "podium", "--version"], {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment)
    assert done.returncode == 1
    assert done.stderr == b"podium: cannot write: No space left on device.\n"


def shell(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A command line in a folder, as a shell runs it; podium is this one."""
    program = f'podium() {{ {sys.executable} -m podium "$@"; }}; {command}'
    environment = {**os.environ, **variables}
    return subprocess.run(["bash", "-c", program], cwd=folder, capture_output=True, env=environment, timeout=60)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_characters_that_a_stream_does_not_have_are_printed_by_number(encoding: str, tmp_path: Path) -> None:
    done = shell("podium methods listmle", tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0
    assert b"\\u2212" in done.stdout  # a minus sign
    assert done.stderr == b""


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_no_error(closed: str, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 0.5 t\n")
    done = shell(f"podium evaluate qrels run {closed}", tmp_path)
    assert done.returncode == 0
    assert done.stderr in (b"", b"queries: 1 judged, 1 in the run, 1 in both\n")
    assert shell(f"podium evaluate qrels none {closed}", tmp_path).returncode == 1
    assert (tmp_path / "run").read_text() == "q Q0 d 1 0.5 t\n", "no file took the place of the stream"


@pytest.mark.slow
def test_standard_output_by_its_name_goes_into_pipes_and_after_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "set.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    (tmp_path / "log").write_text("before\n")
    command = "podium train set.txt --method single-feature -o /dev/stdout 2> messages"
    done = shell(f"{command} | cat > piped.podium; podium rank piped.podium set.txt; {command} >> log", tmp_path)
    assert done.stdout == b"0.5\n0.25\n"
    assert (tmp_path / "log").read_bytes().startswith(b"before\nPK")


def test_a_pipe_whose_format_has_to_be_looked_up_is_refused_and_not_read_in_part(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"q{k} 0 d 1\n" for k in range(20_000)))
    (tmp_path / "run").write_text("q1 Q0 d 1 0.5 t\n")
    done = shell("podium evaluate <(cat qrels) run", tmp_path)
    assert done.returncode == 1
    assert b"is a pipe, which can be read only once" in done.stderr


def test_what_kubernetes_sets_for_a_service_of_the_same_name_is_ignored_in_a_line(tmp_path: Path) -> None:
    theirs = {
        "PODIUM_SERVE_PORT": "tcp://10.0.0.1:80", "PODIUM_SERVE_SERVICE_HOST": "10.0.0.1",
        "PODIUM_SERVE_SERVICE_PORT_HTTP": "80", "PODIUM_SERVE_PORT_80_TCP_ADDR": "10.0.0.1",
    }  # fmt: skip
    done = shell("podium serve --show-settings", tmp_path, **theirs)
    assert done.returncode == 0
    assert b"port = 8080\n" in done.stdout
    assert done.stderr.startswith(b"note: ignoring PODIUM_SERVE_")
    assert done.stderr.count(b"\n") == 1
    assert shell("podium serve --show-settings", tmp_path, PODIUM_SERVE_PORT="eighty").returncode == 1


@pytest.mark.parametrize("name", ["adarank", "recipe", "grid", "optuna", "plackett-luce", "ndcg", "zscore", "cranking"])
def test_every_word_of_the_grammar_has_a_page(podium: Podium, name: str) -> None:
    result = podium("methods", name)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"{name}: a")


def test_the_parts_of_a_kind_are_listed_by_its_name_in_singular_or_plural(podium: Podium) -> None:
    for kind, part in {"loss": "listnet ", "click model": "pbm ", "retrieval": "bm25 ", "tuning": "grid "}.items():
        listed = podium("methods", kind).stdout
        assert f"\n{part}" in listed
        plural = kind + ("es" if kind.endswith("s") else "s")
        assert podium("methods", plural.replace(" ", "-")).stdout == listed


def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    program = [sys.executable, "-m", "podium", "methods"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_an_interrupted_program_leaves_no_traceback_and_nothing_half_written(folder: Path, tmp_path: Path) -> None:
    words = ["compare", str(folder), "--methods", f"random,{LONG}", "--jobs", "1", "-o", str(tmp_path / "out")]
    with subprocess.Popen([*PODIUM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "out/runs/set-random.json").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-2:] == [
        f"1 of 2 are kept in {tmp_path / 'out'}; the same command goes on from there.",
        "podium: interrupted.",
    ]
    files = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert files == ["models/set-random.podium", "runs/set-random.json", "spec.toml"]


def test_tables_are_aligned_text_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_table(["method", "map"], [["a", "0.5"], ["long[name]", "–"]])
    assert capsys.readouterr().out == "method      map\na           0.5\nlong[name]    –\n"


def test_tables_on_a_terminal_show_names_with_brackets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console.print_table(["metric", "mean"], [["ndcg@10[letor3]", "0.5000"]], styles={(0, 1): "bold"})
    assert "ndcg@10[letor3]" in capsys.readouterr().out


def test_names_of_strangers_change_nothing_else_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "a\x1b]0;title\x07\x1b[2Jb\tc\x7f\x9b5m\r\nd\x00 é"
    seen = "a\\x1b]0;title\\x07\\x1b[2Jb\tc\\x7f\\x9b5m\\x0d\nd\\x00 é\n"
    console.say(hostile)
    console.out(hostile)
    assert capsys.readouterr() == (f"{hostile}\n", seen)  # a result stays as it is in a file
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console.out(hostile)
    console.out("\x1b[1mbold\x1b[0m")
    assert capsys.readouterr().out == f"{seen}\x1b[1mbold\x1b[0m\n"
    console.print_table([hostile], [["\x1b[2J"]])
    assert "\x1b[2J" not in capsys.readouterr().out
