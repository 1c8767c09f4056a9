"""Keys and roles, limits, headers, and what strangers may send."""

import hashlib
import re
from importlib.resources import files

import pytest

from podium.base.errors import DataError, ParameterError
from podium.service.app import ENDPOINTS
from podium.service.rate_limit import RateLimit
from podium.service.security import ROLES, Keys
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
    monkeypatch.setattr("podium.service.rate_limit.time.monotonic", lambda: now[0])
    rates = RateLimit(2.0, 4)
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


CHANGING = [one for one in ENDPOINTS if one.method != "GET"]


@pytest.mark.parametrize("endpoint", CHANGING, ids=lambda one: f"{one.method} {one.path}")
def test_a_page_of_a_stranger_cannot_make_a_browser_change_anything(start, models, tmp_path, endpoint):
    client = start(models=(str(models / "web.podium"),), store=str(tmp_path / "f.db"), shelf=str(tmp_path / "shelf"))
    path = re.sub(r"{\w+(:path)?}", "x", endpoint.path)
    for kind in (None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert client(endpoint.method, path, b"{}", content_type=kind).status == 415
    kind = endpoint.kinds[0]
    for headers in (
        {"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}, {"origin": "null"},
        {"origin": "https://evil.example"}, {"origin": "http://127.0.0.1.evil.example"},
    ):  # fmt: skip
        assert client(endpoint.method, path, b"{}", content_type=kind, **headers).status == 403, headers
    for headers in (
        {"sec_fetch_site": "same-origin", "origin": "https://search.example"}, {"sec_fetch_site": "none"},
        {"origin": "http://127.0.0.1"}, {"authorization": "Bearer x", "origin": "https://evil.example"},
    ):  # fmt: skip
        assert client(endpoint.method, path, b"{}", content_type=kind, **headers).status not in (403, 415), headers


def test_a_form_does_not_end_an_experiment(start, models, tmp_path):
    files = (str(models / "web.podium"), str(models / "trees.podium"))
    client = start(models=files, store=str(tmp_path / "f.db"))
    assert client("POST", "/v1/experiments", {"name": "e", "kind": "split", "candidate": "trees"}).status == 201
    for kind in (None, "application/x-www-form-urlencoded"):
        assert client("POST", "/v1/experiments/e/end", b"", content_type=kind).status == 415
    assert client("GET", "/v1/experiments/e").json["ended"] is None
    assert client("POST", "/v1/experiments/e/end").json["why"] == "asked"


def test_the_page_makes_text_of_whatever_it_is_told():
    for file in (files("podium.service") / "page").iterdir():
        text = file.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "srcdoc"):
            assert word not in text, f"{file.name} has {word}"
        assert not re.search(r"href: (?!url|app\.href|webAddress\()", text), (
            f"{file.name}: a link of something that was told"
        )
        assert "<script>" not in text
        assert not re.search(r"<[^>]* on\w+=", text), f"{file.name} has a handler in markup"


def test_no_script_of_others_can_run_on_the_page(client):
    found = client("GET", "/").headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in found.split(";"))
    assert (rules["default-src"], rules["script-src"], rules["base-uri"]) == ("'none'", "'self'", "'none'")
    assert "unsafe" not in found


def test_long_addresses_are_refused(client):
    assert client("GET", "/v1/queries?search=" + "x" * 20_000).status == 431


def test_a_fault_of_the_service_tells_nothing_to_strangers(client, monkeypatch, capsys):
    monkeypatch.setattr("podium.service.ranker.rank", lambda *_: 1 / 0)
    found = client("POST", "/v1/rank", BODY)
    assert found.status == 500
    assert "division" not in found.content.decode()
    logged = capsys.readouterr().err
    assert "ZeroDivisionError" in logged
    assert found.headers["x-request-id"] in logged
