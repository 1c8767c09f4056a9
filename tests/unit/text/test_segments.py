"""Segments: kept beside the store, merged, and made again where they are missing or unsound."""

import dataclasses
import json
import shutil
import warnings

import numpy as np
import pytest

from podium.base.errors import PodiumWarning
from podium.text.index import segments
from podium.text.index.compact import packed_rows, unpacked_rows
from podium.text.index.index import Index
from podium.text.index.segment import Segment


def texts(n, first=0):
    return [
        {"id": f"d{k}", "title": f"t{k % 3}", "text": f"common w{k % 5} w{k % 7} end"} for k in range(first, first + n)
    ]


def state(index):
    """What search gives, bit for bit."""
    hits = [index.search(query, k=100) for query in ("common", "w1 w2 t0", "w3 end", "gone")]
    return [(one.ids, one.scores.tobytes()) for one in hits]


@pytest.fixture
def made(tmp_path):
    """A path, and what search gave."""
    index = Index.create(tmp_path / "i", texts(20))
    index.add(texts(5, 20))
    index.delete(["d3"])
    found = state(index)
    index.close()
    return tmp_path / "i", found


def reopened(path):
    index = Index.open(path)
    found = state(index)
    index.close()
    return found


def test_segments_are_mapped_from_the_cache(made):
    path, found = made
    index = Index.open(path)
    assert [len(one) for one in index.segments] == [20, 5]
    assert all(isinstance(one.id_bytes.base, np.memmap) for one in index.segments)
    assert state(index) == found
    index.close()


def test_a_cache_that_is_gone_is_made_again(made):
    path, found = made
    shutil.rmtree(f"{path}.cache")
    assert reopened(path) == found
    assert reopened(path) == found
    assert len(list(path.with_name("i.cache").glob("*/tokens.npy"))) == 1


def test_arrays_are_written_in_few_bytes_and_come_back(made, tmp_path):
    index = Index.open(made[0])
    segment = index.segments[1]
    sums = segment.save(tmp_path / "again")
    back = Segment.load(tmp_path / "again", sums, n_fields=2, n_terms=len(index.flags))
    for field in dataclasses.fields(Segment):
        array = getattr(segment, field.name)
        assert array.dtype == getattr(back, field.name).dtype
        np.testing.assert_array_equal(array, getattr(back, field.name))
    assert np.load(tmp_path / "again" / "tokens.npy").dtype == np.uint8
    index.close()


def test_postings_far_apart_come_back():
    rows, pointers = np.array([0, 127, 128, 2**31 - 1, 5, 300, 70_000], np.int32), np.array([0, 4, 4, 7])
    packed = packed_rows(rows, pointers)
    np.testing.assert_array_equal(unpacked_rows(packed, pointers), rows)
    assert len(packed) == 1 + 1 + 1 + 5 + 1 + 2 + 3
    for damaged in (packed[:-1], np.append(packed, np.uint8(1)), np.full(20, 255, np.uint8)):
        with pytest.raises(ValueError, match="pointers"):
            unpacked_rows(damaged, pointers)


def test_a_cache_of_another_format_is_made_again_without_a_word(made):
    path, found = made
    file = path.with_name("i.cache") / "segments.json"
    for old in ({"state": "x", "segments": [], "sum": 1}, {**json.loads(file.read_text()), "format": 1}):
        file.write_text(json.dumps(old))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert reopened(path) == found


def test_a_cache_of_another_store_is_not_used(made, tmp_path):
    path, found = made
    other = Index.create(tmp_path / "other", [{"id": "x", "title": "t0", "text": "common end"}])
    other.close()
    shutil.rmtree(f"{path}.cache")
    shutil.copytree(tmp_path / "other.cache", f"{path}.cache")
    assert reopened(path) == found


def test_a_cache_of_a_later_state_is_not_used(made):
    path, found = made
    copy = path.read_bytes()
    index = Index.open(path)
    index.delete(["d5"])
    index.add([{"id": "new", "text": "common"}])
    index.close()
    path.write_bytes(copy)  # a copy of yesterday is restored
    assert reopened(path) == found


def test_a_cache_of_another_history_is_not_used(made, tmp_path):
    path, _ = made
    copy = path.read_bytes()
    for word in ("lost", "gone"):
        path.write_bytes(copy)  # a copy of yesterday is restored, and changed otherwise
        index = Index.open(path)
        index.add([{"id": "new", "text": f"common {word} {word}"}])
        index.close()
        (tmp_path / f"{word}.segments").write_bytes((tmp_path / "i.cache" / "segments.json").read_bytes())
        shutil.copytree(tmp_path / "i.cache", tmp_path / f"{word}.cache")
    expected = reopened(path)
    shutil.rmtree(tmp_path / "i.cache")
    (tmp_path / "lost.cache").rename(tmp_path / "i.cache")
    assert reopened(path) == expected


def test_flipped_bits_change_no_result(made):
    path, found = made
    files = sorted(file for file in path.with_name("i.cache").rglob("*") if file.is_file())
    rng, said = np.random.default_rng(5), 0
    for _ in range(60):
        file = files[rng.integers(len(files))]
        whole = file.read_bytes()
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            index = Index.open(path)
            assert state(index) == found
            index.close()
        said += len(heard)
        shutil.rmtree(path.with_name("i.cache"))
        reopened(path)
        files = sorted(file for file in path.with_name("i.cache").rglob("*") if file.is_file())
    assert said == 60


@pytest.mark.parametrize("name", ["tokens", "numbers", "bounds", "pointers", "rows", "terms", "df", "pairs", "id_ends"])
@pytest.mark.parametrize("how", ["cut", "empty", "gone", "other", "dtype"])
def test_a_damaged_cache_is_made_again(made, name, how):
    path, found = made
    file = next(path.with_name("i.cache").glob(f"*/{name}.npy"))
    if how == "gone":
        file.unlink()
    elif how in ("cut", "empty"):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) - 5 if how == "cut" else 0])
    else:
        array = np.load(file)
        np.save(file, array[:-1] if how == "other" else array.astype(np.float64))
    with pytest.warns(PodiumWarning, match=r"i\.cache: damaged .* it is made again"):
        assert reopened(path) == found
    assert reopened(path) == found


@pytest.mark.parametrize("text", ["", "{", "[]", '{"store": "x"}', '{"store": null, "segments": [1]}'])
def test_a_damaged_list_of_segments_is_made_again(made, text):
    path, found = made
    (path.with_name("i.cache") / "segments.json").write_text(text)
    with pytest.warns(PodiumWarning, match="it is made again"):
        assert reopened(path) == found
    assert json.loads((path.with_name("i.cache") / "segments.json").read_text())["segments"]


def test_a_cache_that_cannot_be_written_is_done_without(made):
    path, found = made
    shutil.rmtree(f"{path}.cache")
    path.with_name("i.cache").write_text("a file where the folder would be")
    assert reopened(path) == found
    index = Index.open(path)
    index.add(texts(2, 40))
    assert len(index) == 26
    index.close()


def test_many_segments_and_many_deleted_documents_are_merged(tmp_path):
    index = Index.create(tmp_path / "i", texts(2))
    for k in range(1, segments.MOST + 1):
        index.add(texts(2, 2 * k))
    assert len(index.segments) == 1
    n = len(index)
    index.delete(["d0", "d1"])
    assert [len(one) for one in index.segments] == [n]
    index.delete([f"d{k}" for k in range(2, 6)])
    assert [len(one) for one in index.segments] == [n - 6]
    assert len([one for one in (tmp_path / "i.cache").iterdir() if one.is_dir()]) == 1
    index.delete([f"d{k}" for k in range(6, n)])
    assert len(index) == 0
    assert index.search("common").ids == []
    index.close()
    again = Index.open(tmp_path / "i")
    again.add(texts(1))
    assert again.search("common").ids == ["d0"]
    again.close()


def test_an_open_index_keeps_what_it_saw_until_it_is_refreshed(tmp_path):
    one = Index.create(tmp_path / "i", texts(10))
    two, before = Index.open(tmp_path / "i"), state(one)
    for k in range(12):
        two.add(texts(3, 100 + 3 * k))
        two.delete([f"d{100 + 3 * k}"])
    assert state(one) == before
    one.refresh()
    assert state(one) == state(two)
    one.close()
    two.close()


def test_a_refresh_sees_one_state_though_another_process_writes_meanwhile(tmp_path, monkeypatch):
    one = Index.create(tmp_path / "i", texts(10))
    two, flags = Index.open(tmp_path / "i"), one.store.flags

    def meanwhile():
        found = flags()
        if len(two) == 10:
            two.add([{"id": "late", "text": "common " + " ".join(f"late{k}" for k in range(500))}])
        return found

    monkeypatch.setattr(one.store, "flags", meanwhile)
    one.refresh()
    assert len(two) == 11
    assert len(one) == 10
    assert max(int(segment.terms[-1]) for segment in one.segments) < len(one.flags)
    one.refresh()
    assert state(one) == state(two)
    one.close()
    two.close()
