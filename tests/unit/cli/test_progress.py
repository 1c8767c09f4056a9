"""Progress on a pipe: a line now and then, with the time left; compilation and long reads are announced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from podium.cli import progress


def test_a_line_says_how_far_it_is_and_how_long_it_will_take() -> None:
    bar = progress.Bar(5)
    assert bar.words() == "0 of 5 done; 0 s so far"
    bar.put("kept one", 1.0, finished=True, skipped=True)
    bar.put("first", 1.0, finished=True)
    bar.put("second", 0.5)
    bar._begun -= 90.0
    assert bar.words() == "2 of 5 done; running: second 50%; 1 min 30 s so far; about 2 min 30 s left"


def test_lines_come_from_time_to_time_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_INTERVAL", 0.05)
    with progress.progress_bar(2) as bar:
        bar.put("one", 0.5)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert lines[0].startswith("0 of 2 done; running: one 50%; 0 s so far; about 0 s left")


def test_reading_much_data_is_announced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open(tmp_path / "large.txt", "wb") as file:
        file.truncate(60_000_000)
    with progress.reading(str(tmp_path)):
        pass
    (tmp_path / "small.txt").write_text("1")
    with progress.reading(str(tmp_path / "small.txt")), progress.reading("-"):
        pass
    assert capsys.readouterr().err == f"reading {tmp_path} (60 MB)\n"


PROGRAM = """
import time

from numba.extending import overload

from podium.cli.progress import progress_bar
from podium.jit.compiled import compiled


def identity(x):
    return x


@overload(identity)
def _identity(x):
    time.sleep(1.2)  # while it is compiled, not when it runs
    return lambda x: x


@compiled
def double(x):
    return 2.0 * identity(x)


with progress_bar(1) as bar:
    bar.put("double", 0.0)
    print(double(4.0))
"""


@pytest.mark.slow
@pytest.mark.parametrize("cached", [True, False])
def test_compilation_that_takes_long_is_said_once(tmp_path: Path, cached: bool) -> None:
    place = str(tmp_path) if cached else "/dev/null/nowhere"  # cannot be made, not even by root
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": place}
    (tmp_path / "program.py").write_text(PROGRAM)
    program = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    after = "cached afterwards" if cached else "no cache folder can be written; set NUMBA_CACHE_DIR to keep it"
    assert done.stderr == f"compiling double for the first use ({after})\n"
    if cached:
        again = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
        assert (again.stdout, again.stderr) == ("8.0\n", "")


def test_an_interrupt_that_c_code_dropped_is_raised_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with progress.progress_bar(1) as bar:
        with suppress(KeyboardInterrupt):  # as a callback from C does
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            bar.put("one", 0.5)
    assert signal.getsignal(signal.SIGINT) is before
