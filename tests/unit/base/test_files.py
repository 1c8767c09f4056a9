"""Files are replaced whole or not at all."""

import io
import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from podium.base.errors import DataError
from podium.base.files import claimed, folder_aside, reading, source_name, sweep, write_aside, writing


def test_a_file_appears_when_the_block_ends(tmp_path):
    path = tmp_path / "a"
    with write_aside(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_a_failed_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), write_aside(path) as file:
        file.writelines([b"half", 1])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with write_aside(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced():
    with write_aside("/dev/null") as file:
        file.write(b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_gzipped_bytes_depend_on_the_content_alone(tmp_path):
    for name in ("a.gz", "b.gz"):
        with writing(tmp_path / name) as file:
            file.write(b"x" * 1000)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    with reading(tmp_path / "a.gz") as file:
        assert file.read() == b"x" * 1000


def test_the_caller_s_file_stays_open():
    source, target = io.BytesIO(b"abc"), io.BytesIO()
    with reading(source) as file, writing(target) as out:
        out.write(file.read())
    assert not source.closed
    assert target.getvalue() == b"abc"


def test_what_cannot_be_read_is_said():
    with pytest.raises(DataError, match="nowhere: no such file"), reading("nowhere"):
        pass
    assert source_name("-") == "<stdin>"
    assert source_name(io.BytesIO()) == "<data>"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_said_with_the_name_of_the_file():
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"), write_aside("/dev/full") as file:
        file.write(bytes(100_000))


def never(folder):
    return False


def always(folder):
    return True


def test_a_folder_that_appears_meanwhile_stays(tmp_path):
    target = tmp_path / "a.pod"
    writing = folder_aside(target, replaces=always)
    (writing.__enter__() / "new").touch()
    target.mkdir()
    (target / "notes").write_text("a person's")
    with pytest.raises(DataError, match="appeared there meanwhile"):
        writing.__exit__(None, None, None)
    assert (target / "notes").read_text() == "a person's"
    assert os.listdir(tmp_path) == ["a.pod"]


def test_a_folder_that_is_exchanged_meanwhile_stays(tmp_path):
    target = tmp_path / "a.pod"
    target.mkdir()
    writing = folder_aside(target, replaces=always)
    writing.__enter__()
    target.rename(tmp_path / "old")
    target.mkdir()
    (target / "notes").touch()
    with pytest.raises(DataError, match="appeared there meanwhile"):
        writing.__exit__(None, None, None)
    assert sorted(os.listdir(tmp_path)) == ["a.pod", "old"]
    assert os.listdir(target) == ["notes"]


@pytest.mark.parametrize("one_step", [True, False])
def test_a_folder_is_replaced(tmp_path, monkeypatch, one_step):
    if not one_step:
        monkeypatch.setattr("sys.platform", "elsewhere")
    target = tmp_path / "a.pod"
    for content in ("old", "new"):
        with folder_aside(target, replaces=always) as aside:
            (aside / content).touch()
    assert os.listdir(target) == ["new"]
    assert os.listdir(tmp_path) == ["a.pod"]
    with pytest.raises(DataError, match="not something to replace"), folder_aside(target, replaces=never):
        pass


KILLED = """
import os, sys
from podium.base import files
if sys.argv[2] == "elsewhere":
    sys.platform = "elsewhere"
at, real = int(sys.argv[3]), os.rename
def rename(*paths):
    global at
    at -= 1
    if at < 0:
        os.kill(os.getpid(), 9)
    real(*paths)
os.rename = rename
with files.folder_aside(sys.argv[1], replaces=lambda folder: True) as aside:
    (aside / "new").touch()
    if at < 0:
        os.kill(os.getpid(), 9)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("platform", ["linux", "elsewhere"])
@pytest.mark.parametrize("renames", [-1, 0, 1, 2, 3])
def test_killed_at_any_rename_the_old_or_the_new_folder_is_there(tmp_path, platform, renames):
    target = tmp_path / "a.pod"
    target.mkdir()
    (target / "old").touch()
    words = [sys.executable, "-c", KILLED, target, platform, str(renames)]
    assert subprocess.run(words, check=False).returncode == -9
    sweep(tmp_path)
    assert os.listdir(target) in (["old"], ["new"])
    with folder_aside(target, replaces=always) as aside:
        (aside / "newer").touch()
    assert os.listdir(tmp_path) == ["a.pod"]
    assert os.listdir(target) == ["newer"]


WRITING = """
import os, sys
from podium.base.files import write_aside
with write_aside(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
"""


def writer(path):
    process = subprocess.Popen([sys.executable, "-c", WRITING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    return process


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    path = tmp_path / "a"
    with writer(path) as killed, writer(path) as living:
        killed.kill()
        killed.wait()
        assert len(os.listdir(tmp_path)) == 2
        with write_aside(path) as file:
            file.write(b"whole")
        assert path.read_bytes() == b"whole"
        assert len(os.listdir(tmp_path)) == 2
        living.communicate(b"\n")
    assert path.read_bytes() == b"half"
    assert os.listdir(tmp_path) == ["a"]


CLAIMING = """
import sys
from podium.base.files import claimed
with claimed(sys.argv[1]):
    print("claimed", flush=True)
    sys.stdin.readline()
"""


def test_what_another_process_has_claimed_is_refused_until_it_ends(tmp_path):
    for path in (tmp_path, tmp_path / "a"):
        words = [sys.executable, "-c", CLAIMING, path]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"claimed\n"
            with pytest.raises(DataError, match=rf"another podium \(process {process.pid}\) is writing"), claimed(path):
                pass
            process.kill()
            process.wait()
            with claimed(path), claimed(path):  # a thread may claim it twice
                pass
        assert os.listdir(tmp_path) == []


def test_one_thread_at_a_time_has_a_claim(tmp_path):
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        for _ in range(20):
            with claimed(tmp_path, wait=60):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert os.listdir(tmp_path) == []
