"""Keys and roles, limits, headers, and what strangers may send."""

import hashlib

import pytest

from podium.errors import DataError, ParameterError
from podium.service.app import ENDPOINTS
from podium.service.security import ROLES, Keys, Rates
from podium.service.settings import Settings

BODY = {"documents": [{"features": [1.0, 2.0, 3.0]}]}


@pytest.fixture
def keyed(start, models, tmp_path):
    """A service with a key of each role; the key is its role, reversed."""
    lines = [f"{role} {role} {hashlib.sha256(role[::-1].encode()).hexdigest()}\n" for role in ROLES]
    (tmp_path / "keys").write_text("# who may do what\n\n" + "".join(lines))
    return start(models=(str(models / "web.podium"),), keys=str(tmp_path / "keys"))


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: f"{one.method} {one.path}")
def test_every_endpoint_asks_for_its_role(keyed, endpoint):
    path = endpoint.path.replace("{name}", "x").replace("{alias}", "x").replace("{query:path}", "x")
    path = path.replace("{user}", "x").replace("{model}", "x").replace("{version}", "1")
    alone = keyed(endpoint.method, path, {})
    if endpoint.role is None:
        assert alone.status not in (401, 403)
        return
    assert alone.status == 401
    assert alone.headers["www-authenticate"] == "Bearer"
    assert keyed(endpoint.method, path, {}, authorization="Bearer wrong").status == 401
    for role in ROLES:
        allowed = ROLES.index(role) >= ROLES.index(endpoint.role)
        for headers in ({"authorization": f"Bearer {role[::-1]}"}, {"x_api_key": role[::-1]}):
            status = keyed(endpoint.method, path, {}, **headers).status
            assert status not in (401, 403) if allowed else status == 403


def test_a_file_of_keys_is_checked(tmp_path):
    file = tmp_path / "keys"
    for text, words in (("a rank", "expected: name role"), ("a boss " + "0" * 64, "one of rank"), ("", "no key")):
        file.write_text(text)
        with pytest.raises(DataError, match=words):
            Keys(str(file))


def test_without_keys_only_this_machine_is_served(client):
    with pytest.raises(ParameterError, match="without keys"):
        Settings(host="0.0.0.0")
    assert Settings(host="0.0.0.0", keys="k").host == "0.0.0.0"
    assert client("GET", "/health/live", host="evil.example").status == 421
    assert client("GET", "/health/live", host="localhost:8080").status == 200


def test_every_answer_has_the_headers_of_safety(client):
    for path in ("/health/live", "/nope", "/v1/rank"):
        found = client("GET", path)
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
        assert len(found.headers["x-request-id"]) == 36


def test_a_request_id_is_echoed_where_it_is_harmless(client):
    assert client("POST", "/v1/rank", BODY, x_request_id="abc-1").json["request"] == "abc-1"
    assert client("POST", "/v1/rank", BODY, x_request_id="a b").json["request"] != "a b"


def test_a_body_is_counted_while_it_is_read(start, models):
    client = start(models=(str(models / "web.podium"),), body_bytes=1000)
    assert client("POST", "/v1/rank", b"x" * 1001, content_type="application/json").status == 413
    found = client("POST", "/v1/rank", chunks=[b" " * 100] * 11, content_type="application/json")
    assert (found.status, found.headers["connection"]) == (413, "close")


def test_packed_bodies_are_not_unpacked(client):
    found = client(
        "POST", "/v1/rank", b"\x1f\x8b" + b"\0" * 100, content_type="application/json", content_encoding="gzip"
    )
    assert found.status == 415
    assert "Content-Encoding" in found.json["detail"]


def test_long_headers_are_refused(client):
    assert client("GET", "/health/live", cookie="x" * 20_000).status == 431


def test_too_many_requests_at_once_are_told_to_come_back(client):
    client.app.state.podium.in_work["anyone"] = 64
    found = client("POST", "/v1/rank", BODY)
    assert (found.status, found.headers["retry-after"]) == (503, "1")
    assert client("GET", "/health/live").status == 200


def test_a_key_may_make_so_many_requests_a_second(start, models, monkeypatch):
    client = start(models=(str(models / "web.podium"),), rate=1.0, burst=2)
    found = [client("GET", "/v1/models") for _ in range(3)]
    assert [one.status for one in found] == [200, 200, 429]
    assert found[0].headers["ratelimit-remaining"] == "1"
    assert found[2].headers["retry-after"] == "1"


def test_a_bucket_fills_with_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("podium.service.security.time.monotonic", lambda: now[0])
    rates = Rates(2.0, 4)
    for _ in range(4):
        rates.take("a")
    with pytest.raises(Exception, match="2 requests per second"):
        rates.take("a")
    rates.take("b")  # another key has its own
    now[0] = 1.0
    for _ in range(2):
        rates.take("a")
    with pytest.raises(Exception, match="requests per second"):
        rates.take("a")


def test_a_body_that_does_not_come_is_not_waited_for(start, models):
    client = start(models=(str(models / "web.podium"),), request_seconds=0.05)
    assert client("POST", "/v1/rank", chunks=[b"{", None], content_type="application/json").status == 408


def test_another_page_may_call_only_where_it_is_listed(start, models):
    open_to = start(models=(str(models / "web.podium"),), origins=("https://shop.example",))
    for client, origin, header in (
        (open_to, "https://shop.example", "https://shop.example"),
        (open_to, "https://evil.example", None),
        (start(models=(str(models / "web.podium"),)), "https://shop.example", None),
    ):
        found = client("POST", "/v1/rank", BODY, origin=origin)
        assert found.headers.get("access-control-allow-origin") == header


def test_a_fault_of_the_service_tells_nothing_to_strangers(client, monkeypatch, capsys):
    monkeypatch.setattr("podium.service.routes.ranking.ranking.rank", lambda *_: 1 / 0)
    found = client("POST", "/v1/rank", BODY)
    assert found.status == 500
    assert "division" not in found.content.decode()
    logged = capsys.readouterr().err
    assert "ZeroDivisionError" in logged
    assert found.headers["x-request-id"] in logged
