"""Two commands that write the same thing, and a reader beside a writer: nothing is lost, and what happened is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.text.index.index import Index

Podium = Callable[..., Any]

LINES = [json.dumps({"id": f"d{k}", "text": f"common w{k}"}) + "\n" for k in range(3000)]


def start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "podium", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not appear")


def feed(process: subprocess.Popen[bytes], lines: list[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("".join(lines).encode())
    process.stdin.flush()


@pytest.mark.slow
@pytest.mark.parametrize("second", [["index", "other.jsonl"], ["index", "other.jsonl", "--add"]])
def test_a_second_index_is_refused_while_the_first_is_written(
    tmp_path: Path, podium: Podium, second: list[str]
) -> None:
    (tmp_path / "other.jsonl").write_text('{"id": "x", "text": "other"}\n')
    with start("index", "-", "-o", "my.index") as first:
        feed(first, LINES[:2000])
        wait_for(tmp_path / ".my.index.lock")
        wait_for(tmp_path / "my.index")
        refused = podium(*second, "-o", "my.index")
        assert refused.exit_code == 1
        assert f"my.index: another podium (process {first.pid}) is writing here" in refused.stderr
        out, err = first.communicate("".join(LINES[2000:]).encode())
    assert first.returncode == 0, err
    assert b"3000 documents" in out
    assert podium("index", "other.jsonl", "-o", "my.index").exit_code == 1  # it is there now
    assert podium("index", "other.jsonl", "-o", "my.index", "--add").exit_code == 0
    index = Index.open("my.index")
    assert len(index) == 3001
    index.close()
    assert not list(tmp_path.glob(".*"))


def test_an_index_whose_making_was_killed_is_made_again(tmp_path: Path, podium: Podium) -> None:
    (tmp_path / "docs.jsonl").write_text("".join(LINES[:5]))
    with start("index", "-", "-o", "my.index") as first:
        feed(first, LINES[:2000])
        wait_for(tmp_path / "my.index")
        first.kill()
    result = podium("index", "docs.jsonl", "-o", "my.index")
    assert result.exit_code == 0, result.stderr
    assert "5 documents" in result.stdout
    assert sorted(os.listdir()) == ["docs.jsonl", "my.index", "my.index.cache"]


def test_a_second_cache_is_refused_while_the_first_is_written(tmp_path: Path, podium: Podium) -> None:
    row = "1 qid:{} 1:0.5 2:0.25\n"
    (tmp_path / "other.txt").write_text(row.format(7))
    with start("cache", "-", "-o", "train.pod") as first:
        feed(first, [row.format(k) for k in range(2000)])
        wait_for(tmp_path / ".train.pod.lock")
        refused = podium("cache", "other.txt", "-o", "train.pod")
        assert refused.exit_code == 1
        assert f"train.pod: another podium (process {first.pid}) is writing here" in refused.stderr
        _, err = first.communicate()
    assert first.returncode == 0, err
    assert podium("cache", "other.txt", "-o", "train.pod").exit_code == 0
    assert sorted(os.listdir()) == ["other.txt", "train.pod"]


def test_a_folder_of_a_cache_with_other_files_in_it_is_not_replaced(tmp_path: Path, podium: Podium) -> None:
    (tmp_path / "data.txt").write_text("1 qid:1 1:0.5\n")
    assert podium("cache", "data.txt", "-o", "train.pod").exit_code == 0
    (tmp_path / "train.pod/notes.txt").write_text("a person's")
    result = podium("cache", "data.txt", "-o", "train.pod")
    assert result.exit_code == 1
    assert "train.pod: is there already, and not something to replace" in result.stderr
    assert (tmp_path / "train.pod/notes.txt").read_text() == "a person's"


@pytest.mark.parametrize(
    "more", [["twice.jsonl"], ["missing.jsonl"], ["--links", "missing"], ["--vectors", "missing.npy"], ["d.jsonl"]]
)
def test_what_fails_in_part_deletes_nothing(tmp_path: Path, podium: Podium, more: list[str]) -> None:
    (tmp_path / "docs.jsonl").write_text("".join(LINES[:5]))
    (tmp_path / "twice.jsonl").write_text(LINES[9] + LINES[9])
    (tmp_path / "d.jsonl").write_text(LINES[3])
    assert podium("index", "docs.jsonl", "-o", "my.index").exit_code == 0
    assert podium("index", *more, "-o", "my.index", "--delete", "d0").exit_code == 1
    index = Index.open("my.index")
    assert index.search("common").ids == ["d0", "d1", "d2", "d3", "d4"]
    index.close()


def test_a_new_index_whose_links_cannot_be_read_is_not_made(tmp_path: Path, podium: Podium) -> None:
    (tmp_path / "docs.jsonl").write_text("".join(LINES[:5]))
    assert podium("index", "docs.jsonl", "-o", "my.index", "--links", "missing").exit_code == 1
    assert os.listdir() == ["docs.jsonl"]


def test_a_reader_goes_on_with_what_it_saw_while_another_process_deletes(tmp_path: Path, podium: Podium) -> None:
    (tmp_path / "docs.jsonl").write_text("".join(LINES[:50]))
    assert podium("index", "docs.jsonl", "-o", "my.index").exit_code == 0
    index = Index.open("my.index")
    before = index.search("common", 50)
    with start("index", "-o", "my.index", *(word for k in range(40) for word in ("--delete", f"d{k}"))) as writer:
        _, err = writer.communicate()
    assert writer.returncode == 0, err
    again = index.search("common", 50)
    assert (again.ids, again.scores.tobytes()) == (before.ids, before.scores.tobytes())
    assert [index.document(id)["id"] for id in again.ids] == before.ids
    index.refresh()
    assert len(index.search("common", 50)) == 10
    index.close()


def test_a_reader_follows_an_index_that_was_made_anew(tmp_path: Path, podium: Podium) -> None:
    (tmp_path / "docs.jsonl").write_text("".join(LINES[:5]))
    assert podium("index", "docs.jsonl", "-o", "my.index").exit_code == 0
    index = Index.open("my.index")
    (tmp_path / "my.index").unlink()
    (tmp_path / "docs.jsonl").write_text("".join(LINES[7:9]))
    assert podium("index", "docs.jsonl", "-o", "my.index").exit_code == 0
    assert index.search("common").ids == ["d0", "d1", "d2", "d3", "d4"]
    assert index.document("d0")["id"] == "d0"
    with pytest.raises(Exception, match="was replaced by another index meanwhile"):
        index.delete(["d0"])
    index.refresh()
    assert index.search("common").ids == ["d7", "d8"]
    index.delete(["d7"])
    assert index.search("common").ids == ["d8"]
    index.close()
