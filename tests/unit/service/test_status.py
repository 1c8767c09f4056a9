"""Health, metrics, and the description of the service."""

import json
import re

from podium.service.app import ENDPOINTS
from podium.service.metrics import Metrics


def test_ready_needs_a_default_model(start, client, tmp_path):
    empty = start(shelf=str(tmp_path / "shelf"))
    assert empty("GET", "/health/live").json == {"status": "live"}
    assert empty("GET", "/health/ready").status == 503
    assert client("GET", "/health/ready").json == {"status": "ready"}


def test_metrics_count_requests_by_route_and_status(client):
    for body in ({"documents": [{"features": [1, 2, 3]}]}, {}):
        client("POST", "/v1/rank", body)
    text = client("GET", "/metrics").content.decode()
    for line in (
        'podium_requests_total{route="/v1/rank",status="200"} 1',
        'podium_requests_total{route="/v1/rank",status="422"} 1',
        'podium_request_seconds_count{route="/v1/rank"} 2',
        'podium_request_seconds_bucket{route="/v1/rank",le="+Inf"} 2',
        'podium_score_seconds_count{model="web@1"} 1',
        'podium_model_info{model="trees@1"} 1',
    ):
        assert line in text.splitlines()
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [-+.e\d]+", line)


def test_buckets_hold_the_times_up_to_their_edge():
    metrics = Metrics()
    for seconds in (0.001, 0.0011, 3.0, 99.0):
        metrics.observe("podium_request_seconds", 'route="/"', seconds)
    found = dict(re.findall(r'_bucket\{route="/",le="([^"]+)"\} (\d+)', metrics.text([])))
    assert found["0.001"] == "1"
    assert found["0.0025"] == "2"
    assert found["10.0"] == "3"
    assert found["+Inf"] == "4"


def test_a_worker_tells_the_sum_of_all(tmp_path):
    mine = Metrics(str(tmp_path))
    mine.count("podium_requests_total", 'status="200"', 2)
    (tmp_path / "metrics-1.json").write_text(json.dumps({'podium_requests_total{status="200"}': [3.0]}))
    mine.share()
    assert 'podium_requests_total{status="200"} 5' in mine.text([])


def test_the_description_has_every_endpoint_and_resolves(client):
    found = client("GET", "/openapi.json").json
    described = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
    wanted = {(one.method, re.sub(r":\w+}", "}", one.path)) for one in ENDPOINTS}
    assert described == wanted - {("GET", path) for path in ("/openapi.json", "/", "/page/{file}")}
    refs = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(found)))
    assert refs <= set(found["components"]["schemas"])
    operations = [one["operationId"] for methods in found["paths"].values() for one in methods.values()]
    assert len(set(operations)) == len(operations)
