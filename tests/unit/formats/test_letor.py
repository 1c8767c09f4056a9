"""LETOR files: what is read, what is written, what is refused and in which words."""

import gzip
import io
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from podium.base.errors import DataError
from podium.base.threads import default_threads
from podium.data import Dataset, make_letor_like
from podium.formats import read_letor, write_letor
from podium.formats.letor import letor_matrix
from podium.parsing import whole_lines

OHSUMED = Path(__file__).parents[3] / "../shared/data/OHSUMED/Fold1/test.txt"


def read(text: str | bytes, **options):
    return read_letor(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def written(data: Dataset) -> bytes:
    file = io.BytesIO()
    write_letor(data, file)
    return file.getvalue()


def same(a: Dataset, b: Dataset) -> bool:
    columns = ("labels", "query_ids", "document_ids", "comments", "rows")
    pairs = [(getattr(a, c), getattr(b, c)) for c in columns]
    return a.digest() == b.digest() and all(
        (x is None) == (y is None) and np.array_equal(x, y) for x, y in pairs if x is not None
    )


def test_a_line_is_a_label_a_query_features_and_a_comment():
    data = read("2 qid:7 1:0.5 3:-1e-3 #docid = a\n0 qid:8 2:4\t# b\n")
    assert np.array_equal(data.features, np.array([[0.5, 0, -1e-3], [0, 4, 0]], np.float32))
    assert data.labels.tolist() == [2, 0]
    assert data.query_ids.tolist() == ["7", "8"]
    assert data.comments.tolist() == ["docid = a", " b"]


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:1 1:2\n0 qid:1 1:3",  # no line end at the end
        "1 qid:1 1:2\r\n0 qid:1 1:3\r\n",
        "\n\n# a comment\n1 qid:1 1:2\n   \n\t# another\n0 qid:1 1:3\n\n",
        "  1   qid:1 \t 1:2  \n0\tqid:1\t1:3\t",
        "1.0 qid:1 01:2e0\n-0 qid:1 1:+3.\n",
        "1 qid:1 1:2#\n0 qid:1 1:3 #\n",
    ],
)
def test_line_ends_blanks_and_spellings_of_numbers_do_not_matter(text):
    data = read(text)
    assert data.features.tolist() == [[2], [3]]
    assert data.labels.tolist() == [1, 0]
    assert data.query_ids.tolist() == ["1"]
    assert data.comments is None


def test_a_byte_order_mark_at_the_start_is_passed_over():
    data = read_letor(io.BytesIO(b"\xef\xbb\xbf2 qid:7 1:0.5\n0 qid:7 1:4\n"))
    assert data.labels.tolist() == [2.0, 0.0]


def test_a_line_end_of_two_bytes_is_no_part_of_a_comment():
    assert read("1 qid:1 1:1 #a \r\n0 qid:1 1:1 #b\r").comments.tolist() == ["a ", "b"]


def test_rows_of_a_query_may_lie_apart_and_keep_their_order():
    text = b"1 qid:b 1:1\n2 qid:a 1:2\n3 qid:b 1:3\n4 qid:c 1:4\n5 qid:a 1:5\n"
    data = read(text)
    assert data.query_ids.tolist() == ["b", "a", "c"]
    assert data.labels.tolist() == [1, 2, 3, 4, 5]
    assert data.grouped().labels.tolist() == [1, 3, 2, 5, 4]
    assert written(data) == text


def test_feature_ids_may_be_unsorted():
    assert read("1 qid:1 3:3 1:1 2:2\n").features.tolist() == [[1, 2, 3]]
    assert read("1 qid:1 3:3 1:1\n", sparse=True).features.toarray().tolist() == [[1, 0, 3]]


def test_label_only_lines_have_no_features():
    assert read("1\n0\n").features.shape == (2, 0)
    assert read("1 qid:a\n0 qid:b 2:1\n").features.tolist() == [[0, 0], [0, 1]]


def test_nan_and_null_are_missing_values():
    data = read("1 qid:1 1:nan 2:NULL 3:NaN 4:null 5:1\n")
    assert np.isnan(data.features[0, :4]).all()
    assert b"1:nan 2:nan" in written(data)


def test_query_ids_are_any_text_of_any_length():
    names = ["x" * 10_000, "9" * 300, "a:b", "é", "007", "7"]
    data = read("".join(f"1 qid:{name} 1:1\n" for name in names))
    assert data.query_ids.tolist() == names
    assert read(written(data)).query_ids.tolist() == names


def test_lines_longer_than_the_buffer_are_read(monkeypatch):
    monkeypatch.setattr(whole_lines, "CHUNK", 64)
    data, _ = make_letor_like(20, (1, 9), n_features=30)
    assert same(read(written(data)), replace(data, comments=read(written(data)).comments))


@pytest.mark.parametrize(
    ("comments", "ids"),
    [
        (["docid = GX1 inc = 1 prob = 0.2", "docid = GX2 inc = 0 prob = 0.1"], ["GX1", "GX2"]),
        ([" 7555 rambo", " 1370 rambo"], ["7555", "1370"]),
        ([" good match", " good try"], None),  # the first word does not name the document
        (["docid = a", " b"], None),
        ([" a", ""], None),
    ],
)
def test_document_ids_come_from_comments(comments, ids):
    text = "".join(f"1 qid:1 1:{k} {'#' if c else ''}{c}\n" for k, c in enumerate(comments, 1))
    data = read(text)
    assert data.comments.tolist() == comments
    assert (None if data.document_ids is None else data.document_ids.tolist()) == ids
    assert written(data).decode() == text.replace("1 \n", "1\n").replace("2 \n", "2\n")


def test_comments_in_no_known_encoding_round_trip():
    text = b"1 qid:1 1:1 #\xff\xfe caf\xe9\n"
    assert written(read(text)) == text


def test_document_ids_without_comments_are_written_as_docid():
    data = Dataset.from_arrays([[1.0], [2.0]], [1, 0], qid=["q", "q"], document_ids=["a", "b"])
    assert written(data) == b"1 qid:q 1:1 #docid = a\n0 qid:q 1:2 #docid = b\n"


def test_real_labels_and_float32_features_round_trip_exactly():
    rng = np.random.default_rng(1)
    labels = np.concatenate([rng.standard_normal(200), [1e-300, 1.5e300, 2**60, 0.1, 1 / 3, -0.0]])
    X = rng.standard_normal((len(labels), 3)).astype(np.float32) * 10.0 ** rng.integers(-40, 38, (len(labels), 3))
    data = Dataset.from_arrays(X, labels, qid=rng.integers(0, 20, len(labels)))
    back = read(written(data))
    assert same(data, back)
    assert np.array_equal(np.signbit(data.labels), np.signbit(back.labels))


def test_a_feature_is_the_float32_of_the_nearest_double():
    rng = np.random.default_rng(2)
    words = [f"{x:.{digits}{kind}}" for x in rng.lognormal(0, 8, 3000) for digits in (3, 8, 17, 25) for kind in "gef"]
    low = (rng.lognormal(0, 15, 1000)).astype(np.float32)
    halfway = (low.astype(np.float64) + np.nextafter(low, np.float32(np.inf))) / 2  # the hardest: between two float32
    words += [f"{x:.{digits}e}" for x in halfway for digits in (15, 16, 17, 30)]
    words += [f"{x:.3f}" for x in halfway]  # some with more digits before the point than a double has
    words += ["0" * 30 + "1.5", "1e-60", "5e-324"]
    words = [word for word in words if float(word) < 3e38]
    data = read("".join(f"1 qid:1 1:{word}\n" for word in words))
    assert np.array_equal(data.features[:, 0], np.array([np.float32(float(word)) for word in words]))


def test_a_label_is_the_nearest_double():
    rng = np.random.default_rng(3)
    words = [f"{x:.{digits}g}" for x in rng.lognormal(0, 40, 2000) for digits in (3, 15, 17, 20, 30)]
    data = read("".join(f"{word} qid:1\n" for word in words))
    assert data.labels.tolist() == [float(word) for word in words]


def test_arrays_are_those_of_scikit_learn(tmp_path):
    data, _ = make_letor_like(30, n_features=40)
    X = data.features * (np.random.default_rng(0).random(data.features.shape) < 0.7)
    path = tmp_path / "data.txt"
    write_letor(replace(data, features=X), path)
    _equal_to_scikit_learn(path)


@pytest.mark.skipif(not OHSUMED.exists(), reason="needs the LETOR data beside the checkout")
def test_ohsumed_is_read_as_scikit_learn_reads_it_and_round_trips(tmp_path):
    _equal_to_scikit_learn(OHSUMED)
    data = read_letor(OHSUMED)
    write_letor(data, tmp_path / "again.txt")
    assert same(data, read_letor(tmp_path / "again.txt"))
    assert data.document_ids is not None


def _equal_to_scikit_learn(path):
    X, y, qid = load_svmlight_file(str(path), query_id=True, dtype=np.float32)
    for data in (read_letor(path), read_letor(path, sparse=True)):
        features = data.features if isinstance(data.features, np.ndarray) else data.features.toarray()
        assert np.array_equal(features, X.toarray())
        assert np.array_equal(data.labels, y)
        assert np.array_equal(np.repeat(data.query_ids.astype(np.int64), data.sizes), qid)


@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz"])
def test_paths_are_read_and_written_plain_and_gzipped(tmp_path, name):
    data, _ = make_letor_like(5)
    write_letor(data, tmp_path / name)
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert read_letor(tmp_path / name).digest() == data.digest()
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_gzip_is_known_by_its_bytes_and_standard_input_is_read(monkeypatch):
    text = gzip.compress(b"1 qid:1 1:1\n")
    assert read(text).n_documents == 1
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text)))
    monkeypatch.setattr("sys.stdin", stdin)
    assert read_letor("-").n_documents == 1


@pytest.mark.parametrize("cut", [3, 15, -9, -1])
def test_a_damaged_gzip_file_is_refused(cut):
    with pytest.raises(DataError, match="the gzip stream is damaged or cut short"):
        read(gzip.compress(b"1 qid:1 1:1\n" * 100)[:cut])


def test_sizes_beside_make_queries_where_lines_have_no_qid(tmp_path):
    (tmp_path / "a.txt").write_text("1 1:1\n0 1:2\n2 1:3\n")
    assert read_letor(tmp_path / "a.txt").n_queries == 1
    (tmp_path / "a.txt.query").write_text("2\n1\n")
    assert read_letor(tmp_path / "a.txt").sizes.tolist() == [2, 1]
    (tmp_path / "a.txt.query").write_text("2\n2\n")
    with pytest.raises(DataError, match="add up to 4, but there are 3"):
        read_letor(tmp_path / "a.txt")
    (tmp_path / "a.txt.query").write_text("2\nx\n")
    with pytest.raises(DataError, match=r"a.txt.query:2: expected a query's number of lines; got 'x'"):
        read_letor(tmp_path / "a.txt")
    for size in (str(2**63), "9" * 5000, "²"):
        (tmp_path / "a.txt.query").write_text(f"2\n{size}\n")
        with pytest.raises(DataError, match=r"a.txt.query:2: expected a query's number of lines"):
            read_letor(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no documents: the file is empty"),
        ("\n# nothing\n", "no documents"),
        ("1 qid:1 1:1\nx qid:1 1:1\n", r":2: the label must be a finite number, or nan .*; got 'x'"),
        ("SQLite format 3\n", r"If this is an index of documents: podium features"),
        ("inf qid:1\n", r":1: the label must be a finite number, or nan .*; got 'inf'"),
        ("1e999 qid:1\n", r":1: the label must be a finite number; '1e999' is too large"),
        ("1 qid:1 1:1\n0 1:1\n", r":2: this line has no qid, but the lines before have one"),
        ("1 1:1\n0 qid:2 1:1\n", r":2: this line has a qid, but the lines before have none"),
        ("1 qid: 1:1\n", r":1: the query id after 'qid:' is empty"),
        ("1 1:1 qid:3\n", r":1: 'qid:3': the qid comes right after the label"),
        ("1 qid:3 0:1\n", r":1: feature 0: ids count from 1 \(query '3'\)"),
        ("1 qid:3 -2:1\n", r":1: feature -2: ids count from 1"),
        ("1 qid:3 1:1\n\n# x\n1 qid:3 2:1 1:5 2:1\n", r":4: feature 2 stands twice in this line \(query '3'\)"),
        ("1 qid:3 1:1 1:1\n", r":1: feature 1 stands twice"),
        (
            "1 qid:3 1:inf\n",
            r":1: feature 1 must be a finite number; got 'inf' \(query '3'\). Leave a missing value out",
        ),
        ("1 qid:3 1:1e39\n", r":1: feature 1: '1e39' is beyond 32-bit floats"),
        ("1 qid:3 1:\n", r":1: feature 1 must be a finite number; got ''"),
        ("1 qid:3 1:1_0\n", r"got '1_0'"),
        ("1 qid:3 1:0x1p3\n", r"got '0x1p3'"),
        ("1 qid:3 1:1:1\n", r"got '1:1'"),
        ("1 qid:3 1 2:2\n", r":1: expected feature:value, with a whole number before the colon; got '1'"),
        ("1 qid:3 a:2\n", r"got 'a:2'"),
        ("1 qid:3 2147483648:1\n", r"there are 1048576 features at most .*unless n_features says more"),
        ("1 qid:3 99999999999999999999999:1\n", r"features at most"),
        (b"\x00\x01\x02\xff\n", r":1: the label must be .* This does not look like a text file"),
        (b"1 qid:1 1:1\n\x89PNG\r\n\x1a\n", r":2: the label must be"),
        (b"\x00" * 1000, r"This does not look like a text file"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, message):
    with pytest.raises(DataError, match=message):
        read(text)


@pytest.mark.parametrize(
    "pair",
    ["1:", "1:.", "1:-", "1:e5", "1:1e", "1:1e39", "1:-4e38", "1:inf", "1:nano", "1:nul", "1:1x", "1:1.5.2",
     "1:12345678x", "0:1", "00:1", ":1", "1", "1.5:1", "-1:1", "1 :1", "99999999999:1", "2:1 1:1 2:1", "qid:4"],
)  # fmt: skip
def test_wrong_pairs_are_refused_by_the_compiled_parser_too(pair):
    with pytest.raises(DataError, match=r"^<data>:3: "):  # the first line is always read slowly
        read(f"1 qid:3 1:1\n2 qid:3 1:2\n1 qid:3 {pair}\n0 qid:3 1:1\n")


def test_an_error_names_the_file_and_the_line_however_far_down(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(b"# head\n" + b"1 qid:1 1:1 2:0.5\n" * 50_000 + b"1 qid:1 1:1 1:2\n")
    with pytest.raises(DataError, match=r"train.txt:50002: feature 1 stands twice"):
        read_letor(path)
    with pytest.raises(DataError, match=r"missing.txt: no such file"):
        read_letor(tmp_path / "missing.txt")
    with pytest.raises(DataError, match="is a folder"):
        read_letor(tmp_path)
    with pytest.raises(DataError, match="open it with mode 'rb'"):
        read_letor(io.StringIO("1 qid:1"))


def test_n_features_widens_and_limits():
    assert read("1 qid:1 1:1\n", n_features=3).features.tolist() == [[1, 0, 0]]
    with pytest.raises(DataError, match=r":1: feature '4', but there are 3 features at most \(query '1'\)"):
        read("1 qid:1 4:1\n", n_features=3)


def test_a_huge_feature_id_gives_a_sparse_matrix_not_a_huge_array():
    data = read("1 qid:1 1:1\n0 qid:1 2000000000:0.5 7:1\n", n_features=2_000_000_000)
    assert data.features.shape == (2, 2_000_000_000)
    assert data.features.nnz == 3
    assert data.features[1, 1_999_999_999] == 0.5


def test_large_and_mostly_unwritten_is_sparse_whatever_the_order_of_rows(monkeypatch):
    monkeypatch.setattr(letor_matrix, "LARGE", 200)
    monkeypatch.setattr(whole_lines, "CHUNK", 64)
    full = "".join("1 qid:1 " + " ".join(f"{c}:{c % 3}" for c in range(1, 11)) + "\n" for _ in range(30))
    thin = "".join(f"1 qid:1 {c}:{c}\n" for c in range(11, 41))
    for text in (full + thin, thin + full):  # 60 × 40 cells, 330 written
        data = read(text)
        assert sp.issparse(data.features)
        assert np.array_equal(data.features.toarray(), read(text, sparse=False).features)
    few = "".join(f"1 qid:1 {c}:{c}\n" for c in range(11, 21))
    for text in (full + few, few + full):  # 40 × 20 cells, 310 written: more than a quarter
        data = read(text)
        assert isinstance(data.features, np.ndarray)
        assert np.array_equal(data.features, read(text, sparse=True).features.toarray())


def test_feature_ids_that_keep_rising_widen_the_dense_matrix(monkeypatch):
    monkeypatch.setattr(whole_lines, "CHUNK", 64)
    text = "".join(f"{c} qid:{c} {c}:{c}\n" for c in range(1, 101))
    assert np.array_equal(read(text).features, np.diag(np.arange(1.0, 101)).astype(np.float32))


def test_more_short_lines_than_there_is_room_for_are_all_read(monkeypatch):
    monkeypatch.setattr(whole_lines, "CHUNK", 256)  # room for 18 lines
    text = "".join(f"{k} qid:{k // 3} {k % 5 + 1}:{k}\n# note\n\n" for k in range(300))
    short = "".join("1\n" if k % 2 else "0\n" for k in range(300))
    assert read(short).labels.tolist() == [k % 2 for k in range(300)]
    data = read(text)
    assert data.labels.tolist() == list(range(300))
    assert data.query_ids.tolist() == [str(q) for q in range(100)]
    assert data.features[np.arange(300), np.arange(300) % 5].tolist() == list(range(300))


def test_memory_stays_below_twice_the_array(monkeypatch):
    monkeypatch.setattr(whole_lines, "CHUNK", 2**16)
    rows = np.random.default_rng(0).random((5000, 100)).round(4)
    text = b"".join(
        b"1 qid:%d %s\n" % (k // 50, b" ".join(b"%d:%.4f" % (c, x) for c, x in enumerate(row, 1)))
        for k, row in enumerate(rows)
    )
    read(text[: text.index(b"\n") + 1])  # compiles
    tracemalloc.start()
    data = read(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    buffers = min(default_threads(), 4) + 1
    fixed = buffers * whole_lines.CHUNK * 6 + 2**20  # each with what is parsed from it
    assert peak - fixed < 2 * data.features.nbytes


def test_threads_read_the_same_and_name_the_same_line(monkeypatch):
    monkeypatch.setattr(whole_lines, "CHUNK", 64)
    text = "".join(f"{k % 3} qid:{k // 7} 1:{k} 2:{k % 5} # {k}\n" for k in range(200)) + "1 qid:9 1:1e400 # odd\n"
    wrong = "".join(f"{k % 3} qid:{k // 7} 1:{k}{'x' if k == 137 else ''}\n" for k in range(200))
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        with pytest.raises(DataError, match=":138: "):
            read(wrong)
        data = read(text.replace("1e400", "1e10"))
        found.append((data.digest(), data.comments.tolist(), data.query_ids.tolist()))
        with pytest.raises(DataError, match=":201: "):
            read(text)
    assert found[1:] == found[:1] * 2


def test_one_query_of_100_000_documents_and_one_document_per_query():
    text = b"".join(b"%d qid:1 1:%d\n" % (k % 3, k) for k in range(100_000))
    data = read(text)
    assert data.sizes.tolist() == [100_000]
    assert np.array_equal(data.features[:, 0], np.arange(100_000, dtype=np.float32))
    single = read(b"".join(b"0 qid:%d 1:%d\n" % (k, k) for k in range(50_000)))
    assert single.n_queries == 50_000
    assert (single.sizes == 1).all()


def test_what_letor_cannot_hold_is_refused_and_nothing_is_left_behind(tmp_path):
    path = tmp_path / "out.txt"
    for options, message in [
        ({"qid": ["a b"]}, "query id 'a b'"),
        ({"qid": ["a"], "document_ids": ["x y"]}, "document id 'x y'"),
        ({"qid": ["a"], "comments": ["x\ny"]}, "line end"),
    ]:
        with pytest.raises(DataError, match=message):
            write_letor(Dataset.from_arrays([[1.0]], [1], **options), path)
    with pytest.raises(DataError, match="begins with a label"):
        write_letor(Dataset.from_arrays([[1.0]]), path)
    assert list(tmp_path.iterdir()) == []


def test_sparse_data_is_written_with_what_it_stores():
    data = Dataset.from_arrays(sp.csr_array(np.array([[0, 2.5], [0, 0]])), [1, 0], qid=[1, 1])
    assert written(data) == b"1 qid:1 2:2.5\n0 qid:1\n"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.floats(width=32), st.decimals(-1000, 1000, places=3).map(float)), min_size=1, max_size=20))
@example([1e-4, 1e-45, 1.17549435e-38, -0.0, *(2.0**k for k in range(-149, 127)), *(10.0**k for k in range(-37, 38))])
def test_a_feature_has_the_fewest_digits_that_read_back_as_it_is(numbers):
    values = np.array(numbers, np.float32)
    line = written(Dataset.from_arrays(values[None, :], [0.0], group=[1])).decode()
    for word, value in zip(line.split(" #")[0].split()[2:], values, strict=True):
        text = word.partition(":")[2]
        assert np.isnan(value) or float(text) == float(str(value))
        assert ("e" in text) == (np.isfinite(value) and value != 0 and not 1e-4 <= abs(float(value)) < 1e6)


def test_large_features_are_written_with_an_exponent():
    values = np.array([[999999.0, 1e6, 16777216.0, 1234567.0, 1e-5, 0.25]], np.float32)
    line = written(Dataset.from_arrays(values, [0.0], group=[1])).decode()
    assert " 1:999999 2:1e+06 3:1.6777216e+07 4:1.234567e+06 5:1e-05 6:0.25" in line
