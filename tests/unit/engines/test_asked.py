"""A live engine is asked: a server in this process answers in each engine's form."""

import json
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from engine_answers import ANSWERS
from fake_engines import serving
from podium.base import http_requests
from podium.base.errors import DataError, ParameterError, RequestError
from podium.base.files import claimed
from podium.base.http_requests import Server, authorization, check_base_url, check_url, request
from podium.engines.asked import ask
from podium.engines.search_bodies import search_body, template_of
from podium.formats.engines.logged_features import read_logged_features

DOCUMENTS = [("d1", 2.5, (1.0, 0.5)), ("d2", 1.5, (2.0, 3.0))]


def quick(url, **options):
    """A server that is asked again at once."""
    return Server(url, **{"retries": 2, "timeout": 5.0, "sleep": lambda _: None, **options})


def bodies(engine, n=3):
    return {f"q{k}": search_body(engine, template_of(engine), f"word{k}", k=2) for k in range(n)}


@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch", "solr", "vespa"])
def test_answers_are_kept_as_they_came_and_read_as_features(engine, tmp_path):
    answer = ANSWERS[engine](DOCUMENTS, ("title", "text"))
    path = str(tmp_path / "answers.jsonl")
    with serving(lambda *_: (200, answer)) as fake:
        asked = ask(quick(fake.url), engine, bodies(engine), path)
        assert asked == (0, 3, {})
        assert len(fake.requests) == 3
        assert ask(quick(fake.url), engine, bodies(engine, 5), path) == (3, 2, {})
        assert len(fake.requests) == 5, "only what is missing is asked"
    assert json.loads((tmp_path / "answers.jsonl").read_text().splitlines()[0])["response"] == answer
    log = read_logged_features(path)
    assert list(log.documents) == [f"q{k}" for k in range(5)]
    assert log.rows("q0").features.tolist() == [[1.0, 0.5], [2.0, 3.0]]


def test_a_killed_run_goes_on_and_another_search_is_not_mixed_in(tmp_path):
    path = tmp_path / "answers.jsonl"
    answer = ANSWERS["solr"](DOCUMENTS, ("a", "b"))
    with serving(lambda method, path, body: (200, answer)) as fake:
        ask(quick(fake.url), "solr", bodies("solr", 2), str(path))
        path.write_bytes(path.read_bytes()[:-20])
        assert ask(quick(fake.url), "solr", bodies("solr", 2), str(path)) == (1, 1, {})
        assert len(read_logged_features(path).documents) == 2
        other = {"q0": {"query": "else"}}
        with pytest.raises(DataError, match=r"answers\.jsonl:1: query 'q0' was asked otherwise"):
            ask(quick(fake.url), "solr", other, str(path))
        for line in ('{"query": "q0"}', '{"query": ["q0"], "asked": 1}', "[1]"):
            path.write_text(f"{line}\n")
            with pytest.raises(DataError, match=r"answers\.jsonl:1: no answer that podium ask wrote"):
                ask(quick(fake.url), "solr", other, str(path))
        with pytest.raises(DataError, match="is no file, to which answers are appended"):
            ask(quick(fake.url), "solr", other, str(tmp_path))


def test_a_second_process_does_not_write_the_same_answers(tmp_path):
    path = str(tmp_path / "answers.jsonl")
    with serving(lambda *_: (200, ANSWERS["solr"](DOCUMENTS, ("a", "b")))) as fake, ThreadPoolExecutor(1) as other:
        with claimed(path):
            again = other.submit(ask, quick(fake.url), "solr", bodies("solr"), path)
            with pytest.raises(DataError, match="is writing here"):
                again.result()
        assert not fake.requests
        assert ask(quick(fake.url), "solr", bodies("solr"), path) == (0, 3, {})


def test_a_busy_engine_is_asked_again_and_what_has_no_answer_is_said(tmp_path):
    answer, seen = ANSWERS["elasticsearch"](DOCUMENTS, ("a", "b")), {}

    def respond(method, path, body):
        word = body["query"]["multi_match"]["query"]
        seen[word] = seen.get(word, 0) + 1
        if word == "word1":
            return 503, {"error": "busy"}
        if word == "word2":
            return 200, {**answer, "timed_out": True}
        return (429, {}) if seen[word] < 3 else (200, answer)

    with serving(respond) as fake:
        asked = ask(quick(fake.url), "elasticsearch", bodies("elasticsearch"), str(tmp_path / "a.jsonl"))
    assert asked.now == 1
    assert seen == {"word0": 3, "word1": 3, "word2": 1}
    assert "status 503" in asked.failed["q1"]
    assert "not whole: the search timed out" in asked.failed["q2"]
    assert list(read_logged_features(tmp_path / "a.jsonl").documents) == ["q0"]


@pytest.mark.parametrize(
    ("status", "content", "says"),
    [
        (307, b"", "answered 307 to query 'q0'"),
        (401, {"error": "who are you"}, "answered 401 .*who are you"),
        (404, {"error": "no such index"}, "answered 404 .*no such index"),
        (200, b"<html>", "no JSON: <html>"),
    ],
)
def test_other_answers_end_it_and_no_redirect_is_followed(status, content, says, tmp_path):
    with serving(lambda method, path, body: (status, content)) as fake:
        with pytest.raises(RequestError, match=says):
            ask(quick(fake.url), "vespa", bodies("vespa"), str(tmp_path / "a.jsonl"), at_once=1)
        assert {path for _, path, _ in fake.requests} == {"/search/"}
    assert (tmp_path / "a.jsonl").read_bytes() == b""


def test_slow_large_and_absent_servers_are_refused(monkeypatch):
    monkeypatch.setattr(http_requests, "LARGEST_ANSWER", 1000)
    with (
        serving(lambda method, path, body: (200, b"x" * 5000)) as fake,
        pytest.raises(RequestError, match="more than 1000"),
    ):
        request("GET", fake.url)

    def slow(method, path, body):
        time.sleep(0.3)
        return 200, {}

    with serving(slow) as fake, pytest.raises(RequestError, match="no whole answer in") as refused:
        request("GET", fake.url, timeout=0.05)
    assert refused.value.again
    with pytest.raises(RequestError, match="does not answer"):
        quick(fake.url, retries=1).send("GET", "/")  # it is gone


@contextmanager
def raw_server(send):
    """A server that answers each connection by a function of its socket; its URL."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        with suppress(OSError):
            while True:
                connected, _ = server.accept()
                with connected, suppress(OSError):
                    connected.recv(65536)
                    send(connected)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def dripping(head, piece):
    """Sends the beginning of an answer, and then pieces without an end."""

    def send(connected):
        connected.sendall(head)
        while True:
            connected.sendall(piece)
            time.sleep(0.01)

    return send


@pytest.mark.parametrize(
    "send",
    [
        dripping(b"HTTP/1.1 200 OK\r\n", b"X: 1\r\n"),
        dripping(b"", b"H"),
        dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b" "),
    ],
    ids=["headers", "status", "continue", "content"],
)
def test_a_server_that_sends_slowly_without_an_end_is_left_in_time(send):
    """Each piece comes in time: without an end of the whole, headers alone took minutes."""
    with raw_server(send) as url:
        started = time.monotonic()
        with pytest.raises(RequestError, match="does not answer") as refused:
            request("GET", url, timeout=0.2)
        assert time.monotonic() - started < 5.0
    assert refused.value.again


@pytest.mark.parametrize("head", [b"Content-Length: 100\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n20\r\n"])
def test_an_answer_that_was_cut_off_is_no_answer(head):
    with (
        raw_server(lambda connected: connected.sendall(b"HTTP/1.1 200 OK\r\n" + head + b'{"a": 1}')) as url,
        pytest.raises(RequestError, match="IncompleteRead") as refused,
    ):
        request("GET", url)
    assert refused.value.again


def test_no_message_has_a_secret_and_no_url_ends_in_a_traceback():
    for secret in ("Bearer s3cret\n", "ApiKey s3crét€", "ann:s3cret\r\nX: 1"):
        headers = {"Authorization": secret}
        with pytest.raises(ParameterError, match="header Authorization has a letter") as refused:
            request("GET", "http://127.0.0.1:9/", headers=headers)
        assert "s3c" not in str(refused.value)
    assert authorization("ann:a b") == {"Authorization": "Basic YW5uOmEgYg=="}
    for url in (
        "ann:s3cret@host:9200/x", "http://ann:s3cret@host/", "http://ann:s3cret@host:x/", "http://[::1/s", "http://h:x",
        "http://h:99999", "http://h/a b", "http://h/é", "http://h\n/", "https:///x",
    ):  # fmt: skip
        with pytest.raises(ParameterError, match="--url") as refused:
            check_url(url)
        assert "s3cret" not in str(refused.value)
    for url in ("http://h/x?api_key=1", "http://h/x#y", "http://h/?"):
        assert check_url(url) == url
        with pytest.raises(ParameterError, match="ends before a"):
            check_base_url(url)
    assert check_base_url("http://h:9200/shop/") == "http://h:9200/shop"
    with pytest.raises(RequestError, match="does not answer"):
        request("GET", f"http://{'a' * 70}.example/")


def test_secrets_go_into_a_header_and_not_into_the_url():
    assert authorization("ann:secret") == {"Authorization": "Basic YW5uOnNlY3JldA=="}
    assert authorization("ApiKey abc:d") == {"Authorization": "ApiKey abc:d"}
    assert authorization(None) == {}
    for url in ("ftp://host", "localhost:9200/x", "http://ann:secret@host/"):
        with pytest.raises(ParameterError, match="--url must"):
            check_url(url)


def test_searches_in_each_engines_language():
    text = 'it\'s "red" {{query}}'
    plugin = search_body("opensearch", template_of("opensearch"), text, k=7, log_features="mine")
    assert plugin["query"] == {"multi_match": {"query": text}}
    assert plugin["size"] == plugin["rescore"][0]["window_size"] == 7
    assert plugin["rescore"][0]["query"]["rescore_query_weight"] == 0
    assert plugin["rescore"][0]["query"]["rescore_query"]["sltr"] == {
        "featureset": "mine",
        "params": {"keywords": text},
    }
    assert plugin["ext"]["ltr_log"]["log_specs"] == {"name": "podium", "rescore_index": 0}
    own = search_body(
        "elasticsearch", {"rescore": {"x": 1}, "size": 3, "ext": {"y": 2}}, text, k=7, log_features="mine"
    )
    assert own["ext"]["y"] == 2
    assert own["ext"]["ltr_log"]["log_specs"]["rescore_index"] == 1
    assert own["rescore"][0] == {"x": 1}
    assert own["size"] == own["rescore"][1]["window_size"] == 3
    solr = search_body("solr", template_of("solr"), text, k=7, log_features="mine")
    assert solr["fields"][-1] == "[features store=mine format=dense efi.keywords='it\\'s \"red\" {{query}}']"
    vespa = search_body("vespa", template_of("vespa"), text, k=7, log_features="mine")
    assert (vespa["hits"], vespa["ranking.profile"], vespa["query"]) == (7, "mine", text)
    knn = {"knn": {"field": "v", "query_vector": "{{vector}}"}, "list": ["{{query}}", 3]}
    filled = search_body("elasticsearch", knn, "x", k=1, vector=(0.5, 1.0))
    assert filled["knn"]["query_vector"] == [0.5, 1.0]
    assert filled["list"] == ["x", 3]
    with pytest.raises(ParameterError, match="a query has no vector"):
        search_body("elasticsearch", knn, "x", k=1)


def test_an_answer_is_written_when_it_comes_and_queries_are_in_order_in_the_end(tmp_path):
    """The first answer is slow: the others do not wait for it."""
    path, released = tmp_path / "answers.jsonl", threading.Event()
    answer = ANSWERS["solr"](DOCUMENTS, ("a", "b"))

    def respond(method, _, body):
        if body["query"] == "word0":
            assert released.wait(20)
        return 200, answer

    def written():
        return [json.loads(line)["query"] for line in path.read_bytes().splitlines()] if path.exists() else []

    with serving(respond) as fake, ThreadPoolExecutor(1) as other:
        asked = other.submit(ask, quick(fake.url, timeout=30.0), "solr", bodies("solr", 6), str(path), at_once=2)
        until = time.monotonic() + 20
        while len(written()) < 5 and time.monotonic() < until:
            time.sleep(0.01)
        assert sorted(written()) == ["q1", "q2", "q3", "q4", "q5"]
        released.set()
        assert asked.result() == (0, 6, {})
    assert written() == [f"q{k}" for k in range(6)]


def test_what_was_answered_survives_a_kill_and_only_the_rest_is_asked_again(tmp_path):
    path, answer = tmp_path / "answers.jsonl", ANSWERS["solr"](DOCUMENTS, ("a", "b"))
    (tmp_path / "queries.tsv").write_text("".join(f"q{k}\tword{k}\n" for k in range(5)))
    is_slow, released = threading.Event(), threading.Event()
    is_slow.set()

    def respond(method, _, body):
        if body["query"] == "word0" and is_slow.is_set():
            released.wait(30)
        return 200, answer

    with serving(respond) as fake:
        command = ["ask", "solr", "queries.tsv", "--url", fake.url, "--at-once", "2"]
        process = subprocess.Popen([sys.executable, "-m", "podium", *command], cwd=tmp_path, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while (not path.exists() or path.read_bytes().count(b"\n") < 4) and time.monotonic() < until:
            time.sleep(0.02)
        process.kill()
        process.wait()
        is_slow.clear()
        released.set()
        before = len(fake.requests)
        subprocess.run([sys.executable, "-m", "podium", *command], cwd=tmp_path, check=True, capture_output=True)
        assert [body["query"] for _, _, body in fake.requests[before:]] == ["word0"]
    assert list(read_logged_features(path).documents) == [f"q{k}" for k in range(5)]


def test_answers_that_are_under_way_are_kept_when_another_ends_it(tmp_path):
    path, answer = tmp_path / "answers.jsonl", ANSWERS["solr"](DOCUMENTS, ("a", "b"))
    is_refused = threading.Event()

    def respond(method, _, body):
        if body["query"] == "word0":
            is_refused.set()
            return 400, {"error": "syntax"}
        assert is_refused.wait(20)
        time.sleep(0.2)
        return 200, answer

    with serving(respond) as fake, pytest.raises(RequestError, match="answered 400 to query 'q0'"):
        ask(quick(fake.url), "solr", bodies("solr", 2), str(path), at_once=2)
    assert list(read_logged_features(path).documents) == ["q1"]
