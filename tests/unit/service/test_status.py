"""Health, metrics, and the description of the service."""

import json
import os
import re
import subprocess
import sys

from prometheus_client.parser import text_string_to_metric_families

from podium.service.app import ENDPOINTS
from podium.service.prometheus import FOLDER, Monitor


def test_ready_needs_a_default_model(start, client, tmp_path):
    empty = start(shelf=str(tmp_path / "shelf"))
    assert empty("GET", "/health/live").json == {"status": "live"}
    assert empty("GET", "/health/ready").status == 503
    assert client("GET", "/health/ready").json == {"status": "ready"}


def samples(text):
    """The value of each series, by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_count_requests_by_route_and_status(client):
    for body in ({"documents": [{"features": [1, 2, 3]}]}, {}):
        client("POST", "/v1/rank", body)
    found = samples(client("GET", "/metrics").content.decode())
    for name, labels, value in (
        ("podium_requests_total", {"route": "/v1/rank", "status": "200"}, 1),
        ("podium_requests_total", {"route": "/v1/rank", "status": "422"}, 1),
        ("podium_request_seconds_count", {"route": "/v1/rank"}, 2),
        ("podium_request_seconds_bucket", {"route": "/v1/rank", "le": "+Inf"}, 2),
        ("podium_score_seconds_count", {"model": "web@1"}, 1),
        ("podium_model_info", {"model": "trees@1"}, 1),
        ("podium_requests_in_work", {}, 1),
    ):
        assert found[name, frozenset(labels.items())] == value
    assert not any(name.endswith("_created") for name, _ in found)


def test_buckets_hold_the_times_up_to_their_edge():
    monitor = Monitor()
    for seconds in (0.001, 0.0011, 3.0, 99.0):
        monitor.request_seconds.labels("/").observe(seconds)
    found = samples(monitor.text(in_work=0, feedback_queue=None, models=()).decode())
    for edge, number in (("0.001", 1), ("0.0025", 2), ("10.0", 3), ("+Inf", 4)):
        assert found["podium_request_seconds_bucket", frozenset({"route": "/", "le": edge}.items())] == number


WORKER = """
import sys
from podium.service.prometheus import Monitor
monitor = Monitor()
monitor.requests.labels("/", 200).inc(float(sys.argv[1]))
print(monitor.text(in_work=int(sys.argv[1]), feedback_queue=7, models=["web@1"]).decode())
"""


def test_a_worker_tells_the_sum_of_all_and_gauges_of_its_own(tmp_path):
    for count, total in (("3", 3), ("2", 5)):
        done = subprocess.run(
            [sys.executable, "-c", WORKER, count], env={**os.environ, FOLDER: str(tmp_path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = samples(done.stdout)
        assert found["podium_requests_total", frozenset({"route": "/", "status": "200"}.items())] == total
        assert found["podium_requests_in_work", frozenset()] == int(count)
        assert found["podium_feedback_queue", frozenset()] == 7


def test_the_description_has_every_endpoint_and_resolves(client):
    found = client("GET", "/openapi.json").json
    described = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
    wanted = {(one.method, re.sub(r":\w+}", "}", one.path)) for one in ENDPOINTS}
    assert described == wanted - {("GET", path) for path in ("/openapi.json", "/", "/page/{file}")}
    refs = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(found)))
    assert refs <= set(found["components"]["schemas"])
    operations = [one["operationId"] for methods in found["paths"].values() for one in methods.values()]
    assert len(set(operations)) == len(operations)
