"""A process killed while it writes, and two processes at once: all or nothing of each batch."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from podium.text.analyser import Analyser
from podium.text.index.index import Index
from podium.text.index.store import Store

BATCH = 6
CHILD = f"""
import sys
from podium.text.collection.indexed_document import Document
from podium.text.index.store import Store
store = Store(sys.argv[1])
number = int(sys.argv[2])
print("ready", flush=True)
while True:
    ids = [f"{{number}}-{{k}}" for k in range({BATCH})]
    store.add([Document(id, {{"text": f"common w{{number}} {{id}} " * 40}}, {{}}, links=("x",)) for id in ids])
    if number % 3 == 0:
        store.delete(ids)
    number += 1
"""


def kill_while_it_writes(path, number, delay):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(number)], stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"ready\n"
        time.sleep(delay)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_a_killed_process_leaves_all_or_nothing_of_each_batch(tmp_path):
    path, rng, number, last = tmp_path / "i", random.Random(7), 0, -1
    Store.create(path, analyser=Analyser(), fields=("text",)).close()
    written = 0
    for _ in range(20):
        kill_while_it_writes(path, number, rng.uniform(0.001, 0.1))
        store = Store(path)
        found = {}
        for one in store.documents():
            batch, k = one["id"].split("-")
            found.setdefault(int(batch), set()).add(int(k))
        assert all(ids == set(range(BATCH)) for ids in found.values()), found
        assert [batch for batch in found if batch % 3 == 0 and batch != max(found)] == []  # deleted as a whole
        tokens = store.tokens()
        assert len(tokens.names) == BATCH * len(found)
        assert {source for source, _ in store.links()} == set(tokens.names)
        assert store.changes() >= last
        last, number = store.changes(), max(found, default=number) + 2
        written += len(found)
        if (number - 2) % 3 == 0 and found:
            store.delete([f"{number - 2}-{k}" for k in range(BATCH)])
        store.close()
    assert written >= 3
    index = Index.open(path)
    assert len(index.search("common", k=10**6)) == len(index)
    index.close()


READER = """
import sys
from podium.text.index.index import Index
index = Index.open(sys.argv[1])
print("ready", flush=True)
seen = []
while len(seen) < 400 and not (seen and seen[-1] >= 30):
    index.refresh()
    hits = index.search("common", k=1000)
    assert len(hits) == len(index), (len(hits), len(index))
    assert len(index) % 3 == 0, len(index)
    assert len(set(hits.ids)) == len(hits)
    assert int(index.statistics(index.query("common")).df[0, -1]) == len(index) if len(index) else True
    seen.append(len(index))
index.close()
print(seen[-1], seen == sorted(seen))
"""


def test_a_reader_sees_whole_batches_while_another_process_writes(tmp_path):
    path = tmp_path / "i"
    index = Index.create(path, (), fields=["text"])
    with subprocess.Popen([sys.executable, "-c", READER, str(path)], stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "ready\n"
        for batch in range(10):
            index.add([{"id": f"{batch}-{k}", "text": f"common w{batch} new{batch}{k}"} for k in range(3)])
        out, _ = reader.communicate(timeout=120)
    index.close()
    assert reader.returncode == 0
    assert out == "30 True\n"
