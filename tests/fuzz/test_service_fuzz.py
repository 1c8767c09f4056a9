"""Requests made up by schemathesis from /openapi.json: no fault of the service, and answers as they are described."""

import pytest
from hypothesis import HealthCheck, settings

import asgi
import podium

schemathesis = pytest.importorskip("schemathesis", reason="needs pip install 'podium[fuzz]'")

import requests  # noqa: E402 (schemathesis brings it)

from podium.service.app import DESCRIBED, build, describe  # noqa: E402
from podium.service.bodies import ARROW, NPY  # noqa: E402
from podium.service.settings import Settings  # noqa: E402
from podium.service.state import State  # noqa: E402

pytestmark = pytest.mark.slow


@schemathesis.serializer(NPY, ARROW)
def as_bytes(context, value):
    return value if isinstance(value, bytes) else str(value).encode()


schema = schemathesis.openapi.from_dict(describe(DESCRIBED))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    data, _ = podium.make_letor_like(20, (5, 9), n_features=4, seed=1)
    podium.train(data, "listnet(iterations=3)").save(folder / "web.podium")
    podium.write_letor(data, folder / "test.txt")
    index = podium.Index.create(
        folder / "my.index", [{"id": "a", "text": "heat transfer"}, {"id": "b", "text": "slabs"}]
    )
    index.close()
    settings = Settings(
        models=(str(folder / "web.podium"),), shelf=str(folder / "shelf"), store=str(folder / "feedback.db"),
        index=str(folder / "my.index"), data=str(folder / "test.txt"),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        # Python 3.11 fails if a thread reads a header of numpy while hypothesis reads the source of a lambda.
        patch.setattr(State, "_watch", lambda state: None)
        app = build(settings)
        yield asgi.Client(app)
        app.state.podium.close()


@schema.parametrize()
@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None, derandomize=True)
def test_no_request_is_answered_with_a_fault_of_the_service(case, client):
    given = requests.Request(**case.as_transport_kwargs(base_url="http://127.0.0.1")).prepare()
    headers = {
        name: value if isinstance(value, str) else value.decode("latin1") for name, value in given.headers.items()
    }
    body = given.body.encode() if isinstance(given.body, str) else given.body
    reply = client(given.method, given.path_url, body or b"", **{**headers, "host": "127.0.0.1"})
    assert reply.status < 500, reply.content
    if reply.status >= 400:
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json["status"] == reply.status
        assert reply.json["detail"]
    answer = schemathesis.Response(
        reply.status, {name: [value] for name, value in reply.headers.items()}, reply.content, given, 0.0, verify=False
    )
    checks = schemathesis.checks
    case.validate_response(answer, checks=[checks.response_schema_conformance, checks.content_type_conformance])
