"""Bodies and names as nobody should send them: each is answered, none with a fault of the service."""

import io
import json
import string

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def npy():
    file = io.BytesIO()
    np.save(file, np.ones((3, 3), np.float32))
    return file.getvalue()


def arrow():
    table, file = pa.table({"bm25": [1.0, 2.0], "age": [0.5, None]}), io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return file.getvalue()


GOOD = {
    "application/json": json.dumps(
        {"documents": [{"id": "a", "features": [1, 2.5, None]}, {"features": {"bm25": 1}}], "k": 1, "odds": True}
    ).encode(),
    "application/x-npy": npy(),
    "application/vnd.apache.arrow.stream": arrow(),
}


def checked(reply):
    assert reply.status < 500, reply.content
    if reply.status >= 400:
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json["detail"]


@FEW
@given(st.data())
def test_a_damaged_body_is_refused_or_ranked(client, data):
    kind = data.draw(st.sampled_from(sorted(GOOD)))
    body = bytearray(GOOD[kind])
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(body) - 1))
        body[place] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(body)), st.integers(0, len(body))))
    checked(client("POST", "/v1/rank", bytes(body[:end]), content_type=kind))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(sorted(
        ["documents", "features", "id", "k", "queries", "model", "pair", "events", "inputs", "data", "shape", "texts"]
    )), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@FEW
@given(json_values, st.sampled_from(["/v1/rank", "/v1/explain", "/rerank", "/v2/models/web/infer", "/v1/aliases/x"]))
def test_json_of_any_shape_is_refused_or_answered(client, value, path):
    checked(client("PUT" if "alias" in path else "POST", path, value))


@FEW
@given(st.text(alphabet=string.printable + "äÄ…/\\%.\0", min_size=1, max_size=80), st.booleans())
def test_no_name_leads_out_of_the_folder_of_models(start_once, name, encoded):
    client, folder, file = start_once
    from urllib.parse import quote

    before = sorted(path for path in folder.parent.rglob("*") if "shelf" not in path.parts)
    path = quote(name, safe="" if encoded else "/.%")
    reply = client("PUT", f"/v1/models/{path}", file)
    checked(reply)
    assert sorted(path for path in folder.parent.rglob("*") if "shelf" not in path.parts) == before
    for made in folder.rglob("*.podium"):
        assert made.parent.parent == folder


@pytest.fixture(scope="module")
def start_once(models, tmp_path_factory):
    import asgi
    from podium.service.app import build
    from podium.service.settings import Settings

    folder = tmp_path_factory.mktemp("names") / "shelf"
    app = build(Settings(models=(str(models / "plain.podium"),), shelf=str(folder)))
    yield asgi.Client(app), folder, (models / "web.podium").read_bytes()
    app.state.podium.close()


@pytest.mark.parametrize("path", ["/v1/rank", "/rerank", "/v1/explain", "/v2/models/web/infer"])
def test_what_is_not_utf_8_is_refused_wherever_it_stands(client, path):
    body = (
        b'{"query":"q","pair":["0","1"],"return_documents":true,"documents":[{"features":[1,\x95,3]},'
        b'{"title":"\xff","features":[1,2,3]}],"inputs":[{"name":"f","shape":[1,\x95],"datatype":"FP32","data":[\x95]}]}'
    )
    assert client("POST", path, body, content_type="application/json").status in (400, 422)
    fine = body.replace(b"1,\x95,3", b"1,2,3").replace(b'"pair":["0","1"],', b"")
    checked(client("POST", path, fine, content_type="application/json"))


@pytest.mark.parametrize("depth", [100, 100_000])
def test_depth_does_not_exhaust_the_stack(client, depth):
    for body in (b"[" * depth, b'{"documents":' * depth, b'{"documents":[{"features":' + b"[" * depth):
        checked(client("POST", "/v1/rank", body, content_type="application/json"))
    inner = b'{"query":"q","documents":[{"features":[1,2,3],"x":' + b"[" * depth + b"]" * depth + b"}]}"
    checked(client("POST", "/rerank", inner, content_type="application/json"))
