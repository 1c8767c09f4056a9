"""Caches: the same data as in memory, in bounded memory; and what is damaged is refused."""

import contextlib
import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.base.matrix_on_disk import SMALL, SUM_BLOCK, Rows
from podium.data.dataset import Dataset, Ungrouped
from podium.formats.cache.cache import file_name, head_bytes, open_cache, verify
from podium.formats.cache.cache_writer import write_cache
from podium.formats.letor.letor import read_letor, write_letor
from podium.formats.letor.letor_matrix import LARGE
from podium.transforms import AddMinMax, MinMax, QueryZScore, SecondOrder, ZScore


def same(a, b):
    assert a.digest() == b.digest()
    for name in ("query_ids", "document_ids", "comments", "query_weights", "document_weights", "labels"):
        one, two = getattr(a, name), getattr(b, name)
        assert (one is None) == (two is None), name
        if one is not None:
            assert list(one) == list(two), name
    assert a.feature_names == b.feature_names
    assert isinstance(a, Ungrouped) == isinstance(b, Ungrouped)


LINES = {
    "apart": b"1 qid:a 1:1 2:2\n0 qid:b 1:3\n2 qid:a 3:1\n0 qid:b 2:nan\n",
    "wider and wider": b"1 qid:a 1:1 #x\n0 qid:a 4:3 #y\n\n# only words\n2 qid:b 9:1 #z\n",
    "docid": b"1 qid:a 1:1 #docid = 7 x\n0 qid:a 4:3 #docid=8\n",
    "ids twice": b"1 qid:a 1:1 #x\n0 qid:a 4:3 #x\n",
    "some without comment": b"1 qid:a 1:1\n0 qid:a 4:3 # x\n1 qid:b 1:2\n",
    "bytes that are not UTF-8": b"1 qid:\xff 1:1 #docid = \xfe\n0 qid:a 1:1 #docid = b\n",
}


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_a_cache_is_the_data_of_its_file(tmp_path, text):
    (tmp_path / "data.txt").write_bytes(text)
    same(podium.read_data(tmp_path / "data.txt"), write_cache(tmp_path / "data.txt", tmp_path / "data.pod"))
    assert sorted(os.listdir(tmp_path)) == ["data.pod", "data.txt"]


def test_a_cache_holds_weights_preferences_and_names(tmp_path):
    rng = np.random.default_rng(0)
    data = Dataset.from_arrays(
        rng.normal(size=(6, 2)), [1, 0, 1, 0, 0, 1], qid=[1, 2, 1, 2, 1, 2], query_weights=[0.5, 2.0],
        feature_names=["bm25", "tf"], preferences=([0, 1], [2, 3], [0.9, 1.0]),
    )  # fmt: skip
    made = write_cache(data, tmp_path / "x.pod")
    same(data, made)
    assert (made.preferences.edges == data.preferences.edges).all()
    assert made.feature_names == ("bm25", "tf")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_tables_become_caches_batch_by_batch(tmp_path, monkeypatch, ending):
    import pyarrow.feather
    import pyarrow.parquet

    from podium.formats.tables import table_spool

    monkeypatch.setattr(table_spool, "_BATCH", 7)
    data, _ = podium.make_letor_like(10, seed=3)
    frame = podium.to_frame(data, backend="pyarrow")
    frame = frame.append_column("query_weight", [(data.query_index % 2 + 1.0).tolist()])
    path = tmp_path / f"data.{ending}"
    if ending == "parquet":
        pyarrow.parquet.write_table(frame, path)
    else:
        pyarrow.feather.write_feather(frame, path)
    same(podium.read_data(path), write_cache(path, tmp_path / "x.pod"))


def test_sparse_files_stay_sparse_and_return_to_dense_by_the_rule_of_memory(tmp_path, monkeypatch):
    from podium.formats.letor import letor_matrix

    monkeypatch.setattr(letor_matrix, "LARGE", 1000)
    rng = np.random.default_rng(1)
    few = [f"{r % 3} qid:{r // 9} {1 + rng.integers(40)}:{rng.random()}" for r in range(200)]
    full = [
        f"{r % 3} qid:{r // 9 + 50} " + " ".join(f"{c}:{rng.random():.3f}" for c in range(1, 41)) for r in range(900)
    ]
    for lines in (few, few + full):
        (tmp_path / "data.txt").write_text("\n".join(lines) + "\n")
        given, made = podium.read_data(tmp_path / "data.txt"), write_cache(tmp_path / "data.txt", tmp_path / "x.pod")
        assert isinstance(made.features, Rows) == isinstance(given.features, np.ndarray)
        same(given, made)
    assert LARGE > 1000


@pytest.mark.parametrize("transform", [ZScore(), MinMax(), QueryZScore(), AddMinMax(), SecondOrder()], ids=repr)
def test_transforms_of_rows_on_disk_have_the_bits_of_memory(tmp_path, transform):
    data, _ = podium.make_letor_like(700, seed=1)
    stored = write_cache(data, tmp_path / "x.pod")
    state = transform.fit(data)
    again = transform.fit(stored)
    assert all((state[name] == again[name]).all() for name in state)
    made, lazily = transform.apply(state, data).features, transform.apply(state, stored).features
    assert isinstance(lazily, Rows)
    np.testing.assert_array_equal(lazily[:], made)
    np.testing.assert_array_equal(lazily[11:29], made[11:29])
    np.testing.assert_array_equal(lazily[np.array([5, 3, 4, -1])], made[[5, 3, 4, -1]])


def test_many_queries_of_rows_on_disk_are_not_read_when_they_are_chosen(tmp_path):
    X = np.arange(3 * SMALL // 2, dtype=np.float32).reshape(-1, 8)
    data = Dataset.from_arrays(X, np.zeros(len(X)), group=np.full(len(X) // 64, 64))
    stored = write_cache(data, tmp_path / "x.pod")
    chosen = np.random.default_rng(0).permutation(data.n_queries)[: data.n_queries * 3 // 4]
    most, few = stored.select(chosen), stored.select(chosen[:3])
    assert isinstance(most.features, Rows)
    assert isinstance(few.features, np.ndarray)
    np.testing.assert_array_equal(most.features[:], data.select(chosen).features)
    assert isinstance(stored.select(np.arange(data.n_queries - 1)).features, Rows)


def test_what_is_damaged_is_refused(tmp_path):
    data, _ = podium.make_letor_like(5, seed=2)
    whole = tmp_path / "whole.pod"
    write_cache(data, whole)
    for name in [*map(file_name, ("labels", "offsets", "features")), "head.json"]:
        for change in ("cut", "flip"):
            broken = tmp_path / "broken.pod"
            shutil.rmtree(broken, ignore_errors=True)
            shutil.copytree(whole, broken)
            raw = bytearray((broken / name).read_bytes())
            raw = raw[:-8] if change == "cut" else raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:]
            (broken / name).write_bytes(raw)
            with pytest.raises(DataError, match="not a podium cache, or damaged"):
                verify(broken)
            if name != file_name("features") or change == "cut":
                with pytest.raises(DataError, match="not a podium cache, or damaged"):
                    open_cache(broken)
    head = json.loads((whole / "head.json").read_text())
    assert set(head) == {"head", "sha256"}


def test_a_cache_is_replaced_as_a_whole_and_other_folders_are_not(tmp_path):
    data, _ = podium.make_letor_like(5, seed=2)
    write_cache(data, tmp_path / "x.pod")
    (tmp_path / "bad.txt").write_text("1 qid:1 1:x\n")
    with pytest.raises(DataError, match=r"bad.txt:1"):
        write_cache(tmp_path / "bad.txt", tmp_path / "x.pod")
    assert open_cache(tmp_path / "x.pod").digest() == data.digest()
    assert sorted(os.listdir(tmp_path)) == ["bad.txt", "x.pod"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(DataError, match="is there already"):
        write_cache(data, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").exists()


@pytest.mark.slow
def test_folders_of_caches_are_data_folders_and_processes_share_their_rows(tmp_path):
    data, _ = podium.make_letor_like(60, seed=4)
    (tmp_path / "caches").mkdir()
    for name, part in zip(("train", "vali", "test"), podium.split(data), strict=True):
        write_letor(part, tmp_path / f"{name}.txt")
        write_cache(tmp_path / f"{name}.txt", tmp_path / "caches" / f"{name}.pod")
    (fold,) = podium.read_folder(tmp_path / "caches")
    assert isinstance(fold.train.features, Rows)
    assert fold.test.digest() == read_letor(tmp_path / "test.txt").digest()
    one = podium.compare([fold], ["single-feature", "random"], "ndcg@10")
    two = podium.compare([fold], ["single-feature", "random"], "ndcg@10", jobs=2)
    assert [outcome.values.tolist() for outcome in one.outcomes] == [
        outcome.values.tolist() for outcome in two.outcomes
    ]


def test_a_cache_on_a_store_is_the_data_and_a_file_there_is_refused_in_words(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    data, _ = podium.make_letor_like(20, seed=4)
    write_cache(data, tmp_path / "x.pod")
    fsspec.filesystem("memory").put(str(tmp_path / "x.pod"), "/x.pod", recursive=True)
    found = podium.read_data("memory://x.pod")
    assert isinstance(found.features, Rows)
    assert found.digest() == data.digest()
    np.testing.assert_array_equal(found.features[5:8], data.features[5:8])
    verify("memory://x.pod")
    with pytest.raises(DataError, match="no cache and no Parquet there"):
        podium.read_data("memory://train.txt")
    with pytest.raises(DataError, match="cannot be read from the store: Protocol not known: nowhere"):
        podium.read_data("nowhere://train.pod")
    with pytest.raises(DataError, match="folders of this machine"):
        write_cache(data, "memory://y.pod")


@pytest.mark.parametrize("names", [("train", "test"), ("train-00000-of-00002", "train-00001-of-00002", "test-00000")])
def test_training_and_test_data_are_no_parts_of_one_table(tmp_path, names):
    frame = podium.to_frame(podium.make_letor_like(4, seed=1)[0])
    for name in names:
        frame.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match="is a folder; give one file of data"):
        write_cache(tmp_path, tmp_path / "both.pod")


def test_parquet_in_several_files_is_one_table_here_and_on_a_store(tmp_path, monkeypatch):
    import pyarrow.parquet

    fsspec = pytest.importorskip("fsspec")
    from podium.formats.tables import table_spool

    monkeypatch.setattr(table_spool, "_BATCH", 7)
    data, _ = podium.make_letor_like(6, seed=3)
    frame = podium.to_frame(data, backend="pyarrow")
    pyarrow.parquet.write_table(frame, tmp_path / "whole.parquet")
    parts = tmp_path / "parts"
    parts.mkdir()
    cuts = [0, 5, 31, len(frame)]  # within queries
    for k, (a, b) in enumerate(itertools.pairwise(cuts)):
        pyarrow.parquet.write_table(frame.slice(a, b - a), parts / f"part-{k}.parquet", row_group_size=4)
    (parts / "_SUCCESS").touch()
    fsspec.filesystem("memory").put(f"{parts}/", "/parts/", recursive=True)
    expected = podium.read_data(tmp_path / "whole.parquet")
    for k, place in enumerate(
        [str(parts), parts, f"file://{parts}", "memory://parts", "memory://parts/part-0.parquet"]
    ):
        found, made = podium.read_data(place), write_cache(place, tmp_path / f"{k}.pod")
        same(found, made)
        same(found, expected if k < 4 else podium.read_data(parts / "part-0.parquet"))
    assert [fold.train.n_queries for fold in podium.read_folder(parts)] == [4]
    pyarrow.parquet.write_table(frame.drop_columns(["label"]), parts / "part-9.parquet")
    with pytest.raises(DataError, match=r"part-9.parquet: column 'label' is in some files"):
        podium.read_data(parts)
    with pytest.raises(DataError, match="no such file on the store"):
        podium.read_data("memory://nowhere.parquet")


LIMITED = """
import hashlib, resource, sys
import numpy as np
import podium
from podium.formats.cache.cache import open_cache
from podium.scorers.trees import grower, lightgbm_data

lightgbm_data.MEMORY = 2**23
grower.DETERMINISTIC["bin_construct_sample_cnt"] = 10_000  # only to be faster
few, many, limited = sys.argv[1:]
METHODS = {
    "recipe(loss=listnet,scorer=linear,solver=lbfgs(iterations=3))": 48_000_000,
    "recipe(loss=listnet,scorer=mlp(hidden=[4]),solver=lbfgs(iterations=1))": 48_000_000,
    "lambdamart(rounds=3,max_bin=15)": 64_000_000,
}

def outcome(data, method):
    scores = podium.train(data, method).score(data)
    return scores.tobytes() + repr(podium.evaluate(data, scores).means()).encode()

for method in METHODS:
    outcome(open_cache(few), method)  # compiles, and loads libraries
before = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
data, digest = open_cache(many), hashlib.sha256()
if limited == "no":
    data = data.dense()
for method, allowed in METHODS.items():
    if limited == "yes":
        resource.setrlimit(resource.RLIMIT_AS, (before + allowed, resource.RLIM_INFINITY))
        try:
            np.asarray(data.features)
            sys.exit("all features fit into the memory that is allowed")
        except MemoryError:
            pass
    digest.update(outcome(data, method))
print(digest.hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux for the size of a process")
def test_data_larger_than_the_allowed_memory_trains_scores_and_evaluates_to_the_bits_of_memory(tmp_path):
    rng = np.random.default_rng(0)
    n, d = 120_000, 200  # 96 MB of features; 48 MB are allowed, for trees 64 MB
    X = rng.integers(0, 12, (n, d), dtype=np.int8)
    data = Dataset.from_arrays(X, X[:, 0] + X[:, 1] > 14, group=np.full(n // 40, 40))
    write_cache(data, tmp_path / "large.pod")
    write_cache(data.select(np.arange(50)), tmp_path / "few.pod")

    def run(limited):
        command = [sys.executable, "-c", LIMITED, str(tmp_path / "few.pod"), str(tmp_path / "large.pod"), limited]
        environment = {**os.environ, "PODIUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("yes") == run("no")


@pytest.fixture
def large(tmp_path):
    """A dense cache of several blocks of checksums, and its features."""
    data, _ = podium.make_letor_like(300, (20, 40), n_features=40, seed=3)
    write_cache(data, tmp_path / "x.pod")
    return tmp_path / "x.pod", np.asarray(data.features)


@pytest.mark.parametrize("store", [False, True])
def test_a_flipped_bit_in_features_is_noticed_by_whoever_reads_its_block(large, store):
    path, X = large
    if store:
        pytest.importorskip("fsspec")
    raw = bytearray((path / "features.f4").read_bytes())
    assert len(raw) > 3 * SUM_BLOCK
    at = 2 * SUM_BLOCK + 77
    raw[at] ^= 4
    (path / "features.f4").write_bytes(raw)
    rows = open_cache(f"file://{path}" if store else path).features
    row, width = at // (4 * X.shape[1]), SUM_BLOCK // (4 * X.shape[1])
    assert np.array_equal(rows[: row - width], X[: row - width])  # of other blocks
    assert np.array_equal(rows[-1], X[-1])
    for rows_ in (slice(row, row + 1), slice(0, len(X)), slice(row - 1, row)):
        with pytest.raises(DataError, match="damaged: bytes 524288 to 786432 do not match their checksum"):
            rows[rows_]
    with pytest.raises(DataError, match="do not match their checksum"):
        pickle.loads(pickle.dumps(rows))[row]


def test_each_block_is_compared_once(large, monkeypatch):
    path, X = large
    compared, real = [], podium.base.matrix_on_disk.block_sums
    monkeypatch.setattr(
        "podium.base.matrix_on_disk.block_sums", lambda found: compared.append(len(found)) or real(found)
    )
    rows = open_cache(path).features
    for _ in range(2):
        assert np.array_equal(rows[5:50], X[5:50])
        assert np.array_equal(rows[:], X)
        assert np.array_equal(rows[np.array([7, 3, len(X) - 1])], X[[7, 3, -1]])
    assert sum(compared) == X.nbytes


def test_flipped_bits_anywhere_in_a_cache_are_refused_in_words(tmp_path):
    text = b"1 qid:a 1:1 2:2 #docid = 7\n0 qid:b 1:3 #docid = 8\n2 qid:a 3:1 #docid = 9\n"
    sparse = b"".join(b"1 qid:%d %d:1\n" % (k, 50 * k + 1) for k in range(40))
    rng = np.random.default_rng(1)
    for name, content in (("dense", text), ("sparse", sparse)):
        (tmp_path / name).write_bytes(content)
        digest = write_cache(tmp_path / name, tmp_path / f"{name}.pod").digest()
        for file in sorted((tmp_path / f"{name}.pod").iterdir()):
            whole = file.read_bytes()
            for _ in range(6):
                damaged = bytearray(whole)
                damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
                file.write_bytes(damaged)
                if file.name == "head.json":
                    with contextlib.suppress(DataError):
                        assert open_cache(tmp_path / f"{name}.pod").digest() == digest  # a blank
                    continue
                with pytest.raises(DataError, match=r"damaged.*Make it again"):
                    open_cache(tmp_path / f"{name}.pod").digest()
            file.write_bytes(whole)


def test_a_cache_of_the_first_format_is_checked_when_it_is_opened(large):
    path, X = large
    head = json.loads((path / "head.json").read_bytes())["head"]
    head["version"] = 1
    del head["arrays"]["feature-sums"]
    (path / "feature-sums.u4").unlink()
    (path / "head.json").write_bytes(head_bytes(head))
    assert np.array_equal(open_cache(path).features[:], X)
    raw = bytearray((path / "features.f4").read_bytes())
    raw[1000] ^= 1
    (path / "features.f4").write_bytes(raw)
    with pytest.raises(DataError, match=r"features\.f4 does not match its checksum"):
        open_cache(path)
