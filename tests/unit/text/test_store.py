"""The store: documents as they were given, and a clear line for every file that is not a sound store."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

from podium.base import sqlite
from podium.base.errors import DataError, IndexFileError, PodiumError
from podium.graph.visits import Visit
from podium.text.analyser import Analyser
from podium.text.collection.indexed_document import Document
from podium.text.index import blocks, schema, writer
from podium.text.index import store as store_module
from podium.text.index.blocks import Block
from podium.text.index.store import Store

FIELDS = ("title", "text")


def documents(*given):
    return [Document.read(one, fields=FIELDS) for one in given]


def some(n, first=0):
    return documents(*({"id": f"d{k}", "text": f"common word w{k}"} for k in range(first, first + n)))


@pytest.fixture
def store(tmp_path):
    made = Store.create(tmp_path / "my.index", analyser=Analyser(), fields=FIELDS)
    yield made
    made.close()


def filled(path, n=50):
    made = Store.create(path, analyser=Analyser(), fields=FIELDS)
    made.add(some(n))
    made.close()
    return path


@pytest.mark.parametrize(
    "given",
    [
        {"id": "nul", "text": "a\0b \0", "year": 7},
        {"id": "half", "text": "lone \ud800 half", "note": "\udfff"},
        {"id": "blank  in id", "title": "T"},
        {"id": "\0", "text": "x"},
        {"id": "日本 \u202e", "text": "東京都"},
        {"id": "empty"},
        {"id": "empty text", "text": ""},
        {"id": "long", "text": "word " * 5000, "tags": ["a", "b"], "deep": {"x": [1, None]}},
        {"id": "\"quoted\" 'id'", "text": "{not json", 'a "key"': 1},
    ],
    ids=lambda given: repr(given["id"]),
)
def test_a_document_comes_back_as_it_was_given(store, given):
    store.add(documents(given))
    assert store.document(given["id"]) == given
    assert list(store.documents()) == [given]


def test_a_document_of_10_mb_in_one_line_is_kept(store):
    text = "word " * 1_000_000 + "x" * 5_000_000
    store.add(documents({"id": "big", "text": text}))
    assert store.document("big")["text"] == text
    assert store.tokens().counts.tolist() == [[0, 1_000_001]]


def test_ids_of_whole_numbers_become_text(store):
    store.add(documents({"id": 7}, {"docno": np.int64(8)}))
    assert [one["id"] for one in store.documents()] == ["7", "8"]


@pytest.mark.parametrize("id", [None, "", 1.5, ["a"], "\ud800"], ids=repr)
def test_other_ids_are_refused(id):
    with pytest.raises(DataError, match="id must be text that is not empty, or a whole number"):
        documents({"id": id})


def test_an_id_with_half_a_character_is_unknown(store):
    assert store.number("\udcff") is None
    assert store.document("\udcff") is None
    with pytest.raises(DataError, match="no document"):
        store.delete(["\udcff"])


def test_a_missing_text_is_no_word(store):
    store.add(documents({"id": "a", "title": float("nan"), "text": None}))
    assert store.tokens().counts.tolist() == [[0, 0]]


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", [float("nan")], object()], ids=lambda value: type(value).__name__)
def test_stored_values_that_no_file_holds_are_refused_and_nothing_is_added(store, value):
    with pytest.raises(DataError, match="document 'b': stored fields must be"):
        store.add(documents({"id": "a"}, {"id": "b", "odd": value}))
    assert not len(store)


def test_links_that_no_file_holds_are_refused():
    with pytest.raises(DataError, match="list of ids"):
        documents({"id": "a", "links": ["\ud800"]})


def test_the_same_id_twice_is_refused_and_nothing_is_added(store, monkeypatch):
    store.add(some(2))
    with pytest.raises(DataError, match=r"'d1' is there already.*replace=True"):
        store.add(some(3, first=1))
    monkeypatch.setattr("podium.text.index.store._BATCH", 2)
    for replace in (False, True):  # far apart, and in one batch
        for n in (1, 4):
            with pytest.raises(DataError, match="'d9' is given twice"):
                store.add([*some(1, first=9), *some(n, first=10), *some(1, first=9)], replace=replace)
    assert len(store) == 2
    assert store.changes() == 1


def test_a_part_of_a_larger_change_takes_place_as_a_whole_or_not_at_all(store, monkeypatch):
    monkeypatch.setattr(store_module, "_BATCH", 2)
    store.add(some(1))
    with store.changing():
        with pytest.raises(DataError, match="is given twice, so nothing was added"):
            store.add(some(5, first=1) + some(1, first=5))
        with pytest.raises(DataError, match="so nothing was deleted"):
            store.delete(["d0", "nobody"])
        store.add(some(2, first=20))
    assert [one["id"] for one in store.documents()] == ["d0", "d20", "d21"]
    assert store.rows("document") == len(store) == len(store.tokens().names) == 3


def test_a_replaced_document_has_a_new_number_and_its_own_links(store):
    store.add(documents({"id": "a", "text": "old", "links": ["x"]}, {"id": "b", "links": ["a"]}))
    store.add(documents({"id": "a", "text": "new", "links": ["y"]}), replace=True)
    assert store.document("a")["text"] == "new"
    assert store.number("a") == 2
    assert sorted(store.links()) == [("a", "y"), ("b", "a")]
    store.delete(["a"])
    assert store.document("a") is None
    assert store.links() == [("b", "a")]
    assert store.deleted().tolist() == [0, 2]
    store.add(documents({"id": "a"}))
    assert store.number("a") == 3


def test_deleting_the_same_id_twice_in_one_call_deletes_it_once(store):
    store.add(some(3))
    store.delete(["d1", "d1"])
    assert [one["id"] for one in store.documents()] == ["d0", "d2"]
    with pytest.raises(DataError, match="no document 'd1', so nothing was deleted"):
        store.delete(["d0", "d1"])
    assert len(store) == 2


def test_vectors_have_one_length(store):
    store.add(documents({"id": "a", "vector": [1, 2]}, {"id": "b"}))
    assert [(n, v.tolist()) for n, v in store.vectors()] == [(0, [1, 2])]
    with pytest.raises(DataError, match="has 3 numbers; others have 2"):
        store.add(documents({"id": "c", "vector": [1, 2, 3]}))


def test_an_error_while_documents_are_read_leaves_nothing(store):
    def broken():
        yield from some(2500)
        raise RuntimeError("cut")

    with pytest.raises(RuntimeError, match="cut"):
        store.add(broken())
    assert len(store) == 0
    assert store.changes() == 0
    assert store.add(some(3)) == 3


def test_a_store_with_documents_is_never_replaced(tmp_path):
    path = filled(tmp_path / "i", 2)
    with pytest.raises(DataError, match="exists already"):
        Store.create(path, analyser=Analyser(), fields=FIELDS)
    empty = Store.create(tmp_path / "empty", analyser=Analyser(), fields=("a",))
    empty.close()
    again = Store.create(tmp_path / "empty", analyser=Analyser(), fields=("b",))
    assert again.fields == ("b",)
    again.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty", "i"]


def refusal(path):
    """The one line that opening and reading a store says."""
    with pytest.raises(PodiumError) as caught:
        read_all(path)
    line = str(caught.value)
    assert "\n" not in line
    assert str(path) in line
    return line


def refused_line(path):
    """What reading a store says, or nothing."""
    try:
        read_all(path)
    except PodiumError as error:
        return str(error)
    return ""


def read_all(path):
    store = Store(path)
    try:
        store.tokens()
        store.flags()
        list(store.documents())
        list(store.vectors())
        list(store.stored("year"))
        store.deleted()
        store.links()
    finally:
        store.close()


def test_what_is_not_a_store_is_refused(tmp_path):
    assert "no such index" in refusal(tmp_path / "missing")
    assert "is a folder" in refusal(tmp_path)
    foreign = tmp_path / "foreign"
    with sqlite3.connect(foreign) as base:
        base.execute("CREATE TABLE document(n)")
    base.close()
    assert "not a podium index" in refusal(foreign)
    (tmp_path / "text").write_text("not a database at all, " * 100)
    assert "not a podium index" in refusal(tmp_path / "text")
    (tmp_path / "nothing").touch()
    assert "not a podium index" in refusal(tmp_path / "nothing")
    for path in (foreign, tmp_path / "text", tmp_path):
        with pytest.raises(IndexFileError):
            Store.create(path, analyser=Analyser(), fields=FIELDS)
    assert (tmp_path / "text").read_text().startswith("not a database")
    with pytest.raises(IndexFileError, match="cannot be written"):
        Store.create(tmp_path / "no" / "folder", analyser=Analyser(), fields=FIELDS)


def change(path, *statements):
    base = sqlite3.connect(path)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()


def test_a_newer_store_is_refused(tmp_path):
    path = filled(tmp_path / "i", 1)
    change(path, "PRAGMA user_version=99")
    assert "newer podium (format 99; this one reads 3). Upgrade" in refusal(path)


def in_format_2(path):
    """Write a store as podium did before there were blocks: a row for the text and one for the terms of a document."""
    store, encode = Store(path), json.dumps
    tokens, rows = store.tokens(), []
    ends = np.cumsum(np.append(0, tokens.counts.sum(axis=1)))
    for k, (n, one) in enumerate(zip(tokens.numbers.tolist(), store.documents(), strict=True)):
        text = encode({name: one[name] for name in FIELDS if name in one}).encode()
        other = encode({name: value for name, value in one.items() if name not in (*FIELDS, "id")})
        document = (n, one["id"], other, zlib.compress(text) if k % 2 else text)
        token = (n, tokens.counts[k].astype("<i4").tobytes(), tokens.ids[ends[k] : ends[k + 1]].astype("<i4").tobytes())
        rows.append((document, token))
    store.close()
    base = sqlite3.connect(path)
    for table in ("document", "block"):
        base.execute(f"DROP TABLE {table}")
        base.execute("DELETE FROM meta WHERE key = ?", (f"rows of {table}",))
    base.execute("CREATE TABLE document(n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, stored TEXT, text BLOB, sum)")
    base.execute("CREATE TABLE token(n INTEGER PRIMARY KEY, counts BLOB NOT NULL, ids BLOB NOT NULL, sum)")
    for document, token in rows:
        base.execute("INSERT INTO document VALUES(?, ?, ?, ?, ?)", (*document, schema.row_sum(*document)))
        base.execute("INSERT INTO token VALUES(?, ?, ?, ?)", (*token, schema.row_sum(*token)))
    schema._count_rows(base, ("document", "token"))
    schema._seal(base)
    base.execute("PRAGMA user_version=2")
    base.commit()
    base.close()


@pytest.mark.parametrize("version", [1, 2])
def test_a_store_of_an_older_format_is_read_and_upgraded(tmp_path, version):
    path = filled(tmp_path / "i", 5)
    store = Store(path)
    store.delete(["d1"])
    store.add_links([("d2", "d3")])
    store.add_visits([Visit("d2", 3, None)])
    store.set_vectors([("d2", np.ones(2, np.float32))])
    store.add(documents({"id": "d9", "title": "a title", "text": "more", "year": 7}))
    terms = store.tokens()
    store.close()
    in_format_2(path)
    if version == 1:
        change(
            path,
            *(f"DROP TRIGGER {table}_{verb}" for table in schema._COLUMNS_2 for verb in ("INSERT", "DELETE")),
            *(f"ALTER TABLE {table} DROP COLUMN sum" for table in schema._COLUMNS_2),
            "DELETE FROM meta WHERE key NOT IN ('analyser', 'fields', 'key', 'changes', 'encoder')",
            "PRAGMA user_version=1",
        )
    for _ in range(2):
        store = Store(path)
        assert [one["id"] for one in store.documents()] == ["d0", "d2", "d3", "d4", "d9"]
        assert store.document("d9") == {"id": "d9", "year": 7, "title": "a title", "text": "more"}
        assert store.deleted().tolist() == [1]
        assert store.links() == [("d2", "d3")]
        assert store.visits() == [Visit("d2", 3.0, None)]
        assert [n for n, _ in store.vectors()] == [2]
        again = store.tokens()
        assert (again.numbers.tolist(), again.names) == (terms.numbers.tolist(), terms.names)
        assert (again.counts.tolist(), again.ids.tolist()) == (terms.counts.tolist(), terms.ids.tolist())
        store.close()
    store = Store(path)
    store.delete(["d3"])
    store.add(some(1, first=10))
    assert store.rows("document") == len(store) == 5
    store.close()
    change(path, "UPDATE block SET ids = x'0100'")
    assert "a row of block does not match its checksum" in refusal(path)


def test_a_damaged_store_of_an_older_format_is_refused_and_stays_as_it_is(tmp_path):
    path = filled(tmp_path / "i", 5)
    in_format_2(path)
    change(path, "UPDATE token SET ids = x'00000000' WHERE n = 4")
    for _ in range(2):
        assert "a row of token does not match its checksum" in refusal(path)


def test_a_deleted_text_is_gone_from_its_block(store):
    store.add(documents(*({"id": f"d{k}", "text": f"secret{k}", "year": k} for k in range(4))))
    store.delete(["d1", "d3"])
    [row] = store._rows("block")
    block = Block.read(row, 2)
    assert block.texts[1] == block.stored[3] == b""
    assert block.counts.tolist() == [[0, 1], [0, 0], [0, 1], [0, 0]]
    assert [one["year"] for one in store.documents()] == [0, 2]
    store.delete(["d0", "d2"])
    assert list(store._rows("block")) == []


def test_each_block_is_written_once_however_documents_are_replaced(store, monkeypatch):
    monkeypatch.setattr(store_module, "_BATCH", 4)
    monkeypatch.setattr(blocks, "_DOCUMENTS", 5)
    store.add(some(20))
    size, read = len(list(store._rows("block"))), []
    monkeypatch.setattr(writer, "block_rows", lambda base, n: read.append(n) or rows(base, n))
    rows = store_module.block_rows
    mixed = [some(1, first=7 * k % 20)[0] for k in range(20)]
    store.add(mixed, replace=True)
    assert len(read) == len(set(read)) == size > 4
    assert [one["id"] for one in store.documents()] == [one.id for one in mixed]
    assert store.tokens().numbers.tolist() == list(range(20, 40))
    assert next(n for n, *_ in store._rows("block")) == 20  # nothing of the old ones is left


def test_documents_of_several_blocks_come_back_with_their_terms(store, monkeypatch):
    monkeypatch.setattr("podium.text.index.blocks._BYTES", 60)
    store.add(some(20))
    assert len(list(store._rows("block"))) > 5
    store.delete(["d7", "d8"])
    assert [one["id"] for one in store.documents()] == [f"d{k}" for k in range(20) if k not in (7, 8)]
    assert store.document("d9")["text"] == "common word w9"
    tokens = store.tokens(after=8)
    assert tokens.names == [f"d{k}" for k in range(9, 20)]
    assert [store.term(t) for t in tokens.ids[:3]] == ["common", "word", "w9"]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM block",
        "DELETE FROM term WHERE t = 2",
        "DELETE FROM document WHERE n = 0",
        "UPDATE term SET term = 'other' WHERE t = 1",
        "UPDATE document SET id = 'other'",
        "INSERT INTO deleted VALUES(7, 0)",
        "DELETE FROM meta WHERE key = 'fields'",
        "UPDATE meta SET value = 'nonsense(' WHERE key = 'analyser'",
        "UPDATE meta SET value = 'many' WHERE key = 'changes'",
        "UPDATE meta SET value = '{' WHERE key = 'fields'",
        "DROP TABLE meta",
        "DROP TABLE block",
        "UPDATE block SET ids = x'01'",
        "UPDATE block SET ids = x'04FFFFFF7F'",
        "UPDATE block SET counts = x'00'",
        "UPDATE block SET size = 2",
        "UPDATE block SET n = 7",
        "UPDATE block SET texts = x'789c00'",
        "UPDATE block SET texts = '{'",
        "UPDATE block SET stored = 'no'",
        "INSERT INTO vector VALUES(0, x'01', 0)",
    ],
)
def test_a_store_with_wrong_content_is_refused(tmp_path, statement):
    path = filled(tmp_path / "i", 1)
    change(path, statement)
    assert refusal(path)


def test_damaged_bytes_give_a_clear_line_or_are_read(tmp_path):
    path = filled(tmp_path / "i")
    whole, rng, refused = path.read_bytes(), np.random.default_rng(3), 0
    for _ in range(60):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 40):
            damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        line = refused_line(path)
        assert "\n" not in line
        assert not line or str(path) in line
        refused += bool(line)
    assert refused > 20


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_a_store_that_is_cut_short_is_refused(tmp_path, share):
    path = filled(tmp_path / "i", 300)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert refusal(path)


def test_two_writers_wait_and_then_say_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "WAIT", 0.1)
    path = filled(tmp_path / "i", 1)
    one, two = Store(path), Store(path)
    with one.changing():
        with pytest.raises(IndexFileError, match=r"another process has been writing to it for 0.1 s. Try again"):
            two.add(some(1, first=5))
        assert len(two) == 1  # reading is not held up
    assert two.add(some(1, first=5)) == 1
    one.close()
    two.close()


def test_a_reader_does_not_hold_up_a_writer(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "WAIT", 30.0)
    path = filled(tmp_path / "i", 20)
    one, two = Store(path), Store(path)
    reading = one.documents()
    next(reading)
    writing = threading.Thread(target=two.add, args=(some(1, first=90),))
    writing.start()
    writing.join(timeout=20)
    assert not writing.is_alive()
    assert len(list(reading)) == 19  # as it was when reading began
    one.close()
    two.close()


def test_an_open_store_sees_one_state_until_it_is_renewed(tmp_path):
    path = filled(tmp_path / "i", 3)
    reader, writer = Store(path), Store(path)
    size = len(reader.flags())
    writer.add(some(4, first=50))
    writer.delete(["d1"])
    assert len(reader) == 3
    assert reader.tokens().ids.max() < size
    assert reader.document("d1") is not None
    assert [len(reader.deleted()), len(writer.deleted())] == [0, 1]
    with reader.renewed():
        assert len(reader) == 6
    assert reader.document("d1") is None
    reader.close()
    writer.close()


NOBODY = """
import os, sys
from podium.base.errors import IndexFileError
from podium.text.analyser import Analyser
from podium.text.collection.indexed_document import Document
from podium.text.index.store import Store
Analyser.parse(repr(Analyser())).term("word")
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    store = Store.create(sys.argv[1], analyser=Analyser(), fields=["a"]) if "new" in sys.argv else Store(sys.argv[1])
    print(len(store), store.tokens().ids.size)
    store.add([Document("new", {}, {})])
except IndexFileError as error:
    print(error)
"""
"""Reads a store and writes to it, without the rights of the super-user."""


def as_nobody(path, *more):
    done = subprocess.run([sys.executable, "-c", NOBODY, str(path), *more], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users here")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_read_only_store_is_read_and_not_written(what):
    with tempfile.TemporaryDirectory() as name:
        path = filled(Path(name) / "i", 5)
        path.chmod(0o444)
        path.parent.chmod(0o555 if what == "folder" else 0o777)
        found = as_nobody(path)
        path.parent.chmod(0o755)
    assert found == ["5 15", f"{path}: cannot be changed here: file or folder is read-only."]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users here")
def test_a_place_that_cannot_be_written_is_named():
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "i"
        path.parent.chmod(0o555)
        found = as_nobody(path, "new")
        path.parent.chmod(0o755)
    assert found[0].startswith(f"{path}: cannot be written")
