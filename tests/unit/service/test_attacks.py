"""What strangers may send to make the service slow, large or wrong: counted before work, done beside the event loop."""

import asyncio
import gc
import hashlib
import io
import json
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

from podium.service import search
from podium.service.endpoint import whole_number
from podium.service.fair_threads import Lane

ARROW = "application/vnd.apache.arrow.stream"
ROW = {"features": [1.0, 2.0, 3.0]}


def stream(columns, batches=1, **options):
    table, file = pa.table(columns), io.BytesIO()
    with pa.ipc.new_stream(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for _ in range(batches):
            writer.write_table(table)
    return file.getvalue()


def tensor(**changes):
    return {"inputs": [{"name": "f", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3], **changes}]}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v2/models/web/infer", tensor(shape=[2**31] * 200_000), 422),
        ("/v2/models/web/infer", tensor(shape=[10**6, 3], data=[1.0] * 10), 413),
        ("/v2/models/web/infer", tensor(data=[1.0] * 400_000), 422),
        ("/v2/models/web/infer", tensor(data=["1", "2", "nan"]), 422),
        ("/v1/rank", {"queries": [{"documents": []}] * 150_000}, 413),
        ("/v1/rank", {"queries": [{"documents": []}] * 1001}, 413),
        ("/v1/rank", {"queries": [{"documents": [ROW] * 6000}] * 2}, 413),
        ("/v1/rank", {"documents": [{"features": [0] * 2_000_000}]}, 422),
        ("/v1/rank", {"documents": [], "features": ["a"] * 700_000}, 422),
        ("/v1/explain", {"documents": [{"features": []}] * 100_000, "pair": ["0", "1"]}, 413),
        ("/rerank", {"query": "q", "documents": [{}] * 100_000}, 413),
        ("/rerank", {"query": "q", "documents": ["x" * 1_000_001]}, 413),
    ],
)
def test_counts_are_checked_before_work(client, path, body, status):
    start = time.monotonic()
    found = client("POST", path, body)
    assert (found.status, time.monotonic() - start < 20.0) == (status, True), found.content


@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5000, "1e999", "-1"])
def test_no_number_is_too_long_to_be_refused_in_words(start, models, tmp_path, digits):
    client = start(models=(str(models / "web.podium"),), shelf=str(tmp_path / "shelf"), store=str(tmp_path / "f.db"))
    head = f"{{'descr':'<f4','fortran_order':False,'shape':({digits[:900]},3)}}".encode()
    matrix = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    text = json.dumps(tensor()).replace("[1, 3]", f"[{digits}, 3]").encode()
    grade = f'{{"events":[{{"kind":"judgment","query":"q","id":"D","value":{digits}}}]}}'.encode()
    for found in (
        client("PUT", "/v1/aliases/x", {"model": "web"}, if_match=f'"{digits}"'),
        client("PUT", f"/v1/models/web?version={digits}", b"x"),
        client("GET", f"/v1/measures?metric=ndcg@{digits}"),
        client("POST", f"/v1/rank?k={digits}", matrix, content_type="application/x-npy"),
        client("POST", "/v1/rank", matrix, content_type="application/x-npy"),
        client("POST", "/v2/models/web/infer", text, content_type="application/json"),
        client("POST", "/v1/feedback", grade, content_type="application/json"),
        client("POST", "/v1/rank", {"documents": []}, content_length=digits),
    ):
        assert 400 <= found.status < 500, found.content
        assert found.json["detail"]


def test_events_are_counted_before_they_are_made(start, models, tmp_path):
    client = start(models=(str(models / "web.podium"),), store=str(tmp_path / "f.db"))
    event = {"kind": "click", "id": "x", "request": "r"}
    for events in ([event] * 40_000, [{**event, "event": "," * 600_000}]):
        assert client("POST", "/v1/feedback", {"events": events}).status == 413


def test_whole_numbers_are_read_up_to_the_most_that_is_expected():
    assert [whole_number(text, most=20) for text in ("0", "0020", "0" * 5000, "21", "", "-1", "²", "1" * 5000)] == [
        0, 20, 0, None, None, None, None, None,
    ]  # fmt: skip


COLUMNS = {"bm25": [1.0, 2.0], "title": [0.5, None]}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (stream(COLUMNS), 200),
        (stream({**COLUMNS, "id": ["a", "b"], "qid": [1, 2]}), 200),
        (stream({"bm25": np.zeros(1_000_000)}, compression="zstd"), 415),
        (stream(COLUMNS, compression="lz4"), 415),
        (stream({**COLUMNS, "id": pa.array(["a", "b"]).dictionary_encode()}), 422),
        (stream({"bm25": pa.array([1.0, 1.0]).dictionary_encode()}), 422),
        (stream({"bm25": pa.RunEndEncodedArray.from_arrays([100_000], [1.0])}), 422),
        (stream({**COLUMNS, "id": pa.array(["a", "b"], pa.string_view())}), 422),
        (stream({"bm25": pa.nulls(11_000)}), 413),
        (stream({str(k): [1.0] for k in range(100)}), 413),
        (stream(COLUMNS, batches=1001), 413),
        (stream({"bm25": np.zeros(1001), "qid": np.arange(1001)}), 413),
        (stream({**COLUMNS, "id": ["a" * 257, "b"]}), 422),
    ],
)
def test_a_stream_of_arrow_is_never_larger_in_memory_than_it_was(client, body, status):
    before = pa.total_allocated_bytes()
    found = client("POST", "/v1/rank", body, content_type=ARROW)
    assert found.status == status, found.content
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_compression_of_streams_from_before_arrow_1_is_refused_too(client):
    from podium.service.arrow_stream import _is_compressed

    messages = pa.ipc.MessageReader.open_stream(stream(COLUMNS))
    messages.read_next_message()
    head = messages.read_next_message().metadata.to_pybytes()
    assert not _is_compressed(head)
    assert _is_compressed(head + b"ARROW:experimental_compression")


def test_what_a_refused_request_held_is_free_at_once(client):
    body = b'{"queries":[' + b",".join([b'{"documents":[]}'] * 40_000) + b"]}"

    async def calls():
        await client.call("POST", "/v1/rank", body, content_type="application/json")
        gc.collect()
        gc.disable()
        try:
            reply = await client.call("POST", "/v1/rank", body, content_type="application/json")
            await asyncio.sleep(0.05)
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            return reply.status, [one for one in gc.garbage if type(one).__name__ in ("frame", "traceback")]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()

    assert asyncio.run(calls()) == (413, [])


def test_callers_take_turns_and_none_has_all_threads():
    lane, go, order = Lane("test", threads=2, share=1), threading.Event(), []

    def work(name):
        order.append(name)
        if name == "greedy 0":
            go.wait(10)

    async def calls():
        greedy = [asyncio.ensure_future(lane.run("greedy", lambda k=k: work(f"greedy {k}"))) for k in range(5)]
        while not order:
            await asyncio.sleep(0.001)
        await asyncio.wait_for(lane.run("modest", lambda: work("modest")), 5)  # while the other's first one works
        greedy[4].cancel()
        go.set()
        await asyncio.wait(greedy)

    asyncio.run(calls())
    lane.close()
    assert order == ["greedy 0", "modest", "greedy 1", "greedy 2", "greedy 3"]


def test_a_key_may_have_half_of_the_requests_in_work(start, models, tmp_path):
    lines = [f"{name} rank {hashlib.sha256(name.encode()).hexdigest()}\n" for name in ("a", "b")]
    (tmp_path / "keys").write_text("".join(lines))
    client = start(models=(str(models / "web.podium"),), keys=str(tmp_path / "keys"), concurrency=8)
    client.app.state.podium.in_work["a"] = 4
    told = [client("POST", "/v1/rank", {"documents": [ROW]}, x_api_key=name).status for name in ("a", "b")]
    assert told == [503, 200]


def test_a_key_has_two_long_bodies_in_memory_at_once(start, models, tmp_path):
    (tmp_path / "keys").write_text(f"a rank {hashlib.sha256(b'a').hexdigest()}\n")
    client = start(models=(str(models / "web.podium"),), keys=str(tmp_path / "keys"), request_seconds=0.3)
    read = []

    async def call(number):
        async def parts():
            read.append(number)
            return {"type": "http.request", "body": b"{", "more_body": True}

        scope = {
            "type": "http", "method": "POST", "path": "/v1/rank", "raw_path": b"/v1/rank", "query_string": b"",
            "headers": [
                (b"x-api-key", b"a"), (b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")
            ],
        }  # fmt: skip

        async def receive():
            if number in read:
                await asyncio.sleep(10)
            return await parts()

        async def send(message):
            pass

        await client.app(scope, receive, send)

    async def calls():
        tasks = [asyncio.ensure_future(call(number)) for number in range(4)]
        await asyncio.sleep(0.1)
        assert len(read) == 2
        await asyncio.gather(*tasks)

    asyncio.run(calls())


@pytest.mark.slow
def test_what_takes_long_is_done_beside_the_event_loop(start, models, tmp_path, monkeypatch):
    import podium

    documents = [{"id": "a", "title": "heat", "text": "heat transfer"}, {"id": "b", "title": "x", "text": "slabs"}]
    podium.Index.create(tmp_path / "my.index", documents).close()
    data, _ = podium.make_letor_like(1200, (2, 2), n_features=4, seed=1)
    podium.write_letor(data, tmp_path / "data.txt")
    client = start(
        models=(str(models / "web.podium"), str(models / "trees.podium")), index=str(tmp_path / "my.index"),
        store=str(tmp_path / "f.db"), data=str(tmp_path / "data.txt"),
    )  # fmt: skip
    loop = threading.current_thread()
    lanes = []
    put = Lane.run

    async def run(self, who, work):
        def told():
            assert threading.current_thread() is not loop
            lanes.append(threading.current_thread().name.split("-")[1])
            return work()

        return await put(self, who, told)

    monkeypatch.setattr(Lane, "run", run)
    many = [ROW] * 300
    calls = [
        ("POST", "/v1/rank", {"documents": many}), ("POST", "/v1/rank", {"documents": [ROW] * 30, "odds": True}),
        ("POST", "/v1/rank", {"documents": [ROW], "explain": True}), ("POST", "/v1/search", {"query": "heat"}),
        ("POST", "/v1/rank", {"queries": [{"documents": [ROW]}] * 6}), ("GET", "/v1/queries", None),
        ("POST", "/v1/explain", {"documents": [ROW, ROW], "pair": ["0", "1"]}), ("GET", "/v1/queries/1", None),
        ("POST", "/rerank", {"query": "q", "documents": many}), ("POST", "/v2/models/web/infer", tensor()),
        ("GET", "/v1/models", None), ("GET", "/metrics", None),
        ("POST", "/v1/feedback", {"events": [{"kind": "click", "request": "r", "id": f"{k}"} for k in range(200)]}),
        ("GET", "/v1/judgments", None), ("GET", "/v1/judgments.qrels", None), ("GET", "/v1/experiments", None),
        ("GET", "/v1/measures?grades=data&model=web", None),
    ]  # fmt: skip
    for method, path, body in calls:
        lanes.clear()
        reply = client(method, path, body)
        assert reply.status < 500, (path, reply.content)
        slow = path.startswith(("/v1/judgments", "/v1/experiments", "/v1/measures"))
        assert set(lanes) == {"slow" if slow else "quick"}, path
    lanes.clear()
    assert client("POST", "/v1/rank", {"documents": [ROW] * 20}).status == 200
    assert lanes == []  # a hop would cost more than the ranking


def test_few_documents_are_taken_apart_at_once(client):
    assert client("POST", "/v1/rank", {"documents": [ROW] * 21, "explain": True}).status == 422
    found = client("POST", "/v1/rank", {"documents": [ROW] * 21, "explain": True, "k": 20})
    assert len(found.json["results"]) == search.EXPLAINED


def test_features_in_lists_by_name_and_in_tensors_are_those_that_were_sent(client):
    rows = [[float(k), None if k % 3 else 0.1234567890123456789, -k / 7] for k in range(11)]
    named = [{"features": dict(zip(["bm25", "title", "age"], row, strict=True))} for row in rows]
    expected = client("POST", "/v1/rank", {"documents": named}).json["results"]
    mixed = [{"features": row} if k % 2 else named[k] for k, row in enumerate(rows)]
    turned = [{"features": row[::-1]} for row in rows]
    assert client("POST", "/v1/rank", {"documents": mixed}).json["results"] == expected
    asked = {"documents": turned, "features": ["age", "title", "bm25"]}
    assert client("POST", "/v1/rank", asked).json["results"] == expected
    nested = {"inputs": [{"name": "f", "shape": [11, 3], "datatype": "FP64", "data": rows}]}
    flat = {"inputs": [{"name": "f", "shape": [11, 3], "datatype": "FP64", "data": [v for row in rows for v in row]}]}
    scores = [one["score"] for one in sorted(expected, key=lambda one: one["index"])]
    for body in (nested, flat):
        assert client("POST", "/v2/models/web/infer", body).json["outputs"][0]["data"] == scores


def test_a_problem_does_not_tell_where_files_lie(start, models, tmp_path, monkeypatch):
    import podium

    documents = [{"id": k, "text": "heat"} for k in "ab"]
    podium.Index.create(tmp_path / "my.index", documents).close()
    client = start(models=(str(models / "web.podium"),), index=str(tmp_path / "my.index"))
    index = client.app.state.podium.index

    def broken(*_, **__):
        index.document("nothing")

    monkeypatch.setattr(type(index), "search", broken)
    found = client("POST", "/v1/search", {"query": "heat"})
    assert found.status == 422
    assert str(tmp_path) not in found.content.decode()
    assert "my.index" in found.json["detail"]


def test_what_another_process_changes_in_the_index_is_seen_at_once(start, tmp_path):
    import podium

    documents = [{"id": k, "text": f"heat {k}"} for k in ("alpha", "beta", "gamma")]
    other = podium.Index.create(tmp_path / "my.index", documents)
    client = start(index=str(tmp_path / "my.index"))
    asked = {"query": "heat", "k": 3}
    assert len(client("POST", "/v1/search", asked).json["results"]) == 3
    other.delete(["beta"])
    other.add([{"id": "delta", "text": "heat delta"}])
    other.close()
    found = client("POST", "/v1/search", asked)
    assert sorted(one["id"] for one in found.json["results"]) == ["alpha", "delta", "gamma"]
    (tmp_path / "my.index").rename(tmp_path / "away.index")
    assert client("POST", "/v1/search", asked).status == 200  # what is open is searched
