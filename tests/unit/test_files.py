"""Files are replaced whole or not at all."""

import io
import os
import stat

import pytest

from podium.errors import DataError
from podium.files import reading, source_name, write_aside, writing


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
