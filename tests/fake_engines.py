"""A server in this process that answers as search engines do, for tests of commands that ask and push."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeEngine:
    """Answers requests by a function (method, path, body) → (status, body as JSON, bytes or None), and keeps them."""

    def __init__(self, respond):
        self.respond, self.requests, self.headers = respond, [], []

    def paths(self):
        return [f"{method} {path}" for method, path, _ in self.requests]


@contextmanager
def serving(respond):
    """A fake engine, with its `url`."""
    engine = FakeEngine(respond)

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(raw) if raw else None
            engine.requests.append((self.command, self.path, body))
            engine.headers.append(dict(self.headers))
            status, content = engine.respond(self.command, self.path, body)
            content = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        def log_message(self, *_):
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    engine.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield engine
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class LtrStores:
    """The stores of the LTR plugins; templates come back as text."""

    def __init__(self):
        self.store, self.sets, self.models = False, {}, {}

    def __call__(self, method, path, body):
        _, *parts = path.strip("/").split("/")
        if not parts:
            self.store = self.store or method == "PUT"
            return 200, {"stores": {"_default_": {"version": 2}} if self.store else {}}
        [kind, name, *rest] = parts
        if rest:
            model = body["model"]
            if model["name"] in self.models:
                return 400, {"error": {"reason": "version conflict"}}
            own = {"name": name, **self.sets.get(name, {"features": []})}  # a copy
            self.models[model["name"]] = {"name": model["name"], "feature_set": own, "model": model["model"]}
            return 201, {"result": "created"}
        kept = self.sets if kind == "_featureset" else self.models
        if method == "PUT":
            kept[name] = body["featureset"]
            return 201, {"result": "created"}
        if method == "DELETE":
            del kept[name]
            return 200, {"result": "deleted"}
        if name not in kept:
            return 404, {"found": False}
        if kind == "_model":
            return 200, {"found": True, "_source": {"type": "model", "model": kept[name]}}
        features = [{**feature, "template": json.dumps(feature["template"])} for feature in kept[name]["features"]]
        return 200, {
            "found": True,
            "_source": {"type": "featureset", "featureset": {"name": name, "features": features}},
        }


class SolrStores:
    """The feature and model stores of a core of Solr; what is there cannot be added again."""

    def __init__(self):
        self.features, self.models = {}, {}

    def __call__(self, method, path, body):
        kind, *name = path.partition("/schema/")[2].split("/")
        kept = self.features if kind == "feature-store" else self.models
        if method == "DELETE":
            kept.pop(name[0])
            return 200, {}
        if method == "GET" and kind == "model-store":
            return 200, {"models": list(self.models.values())}
        if method == "GET":
            features = kept.get(name[0])
            return (200, {"features": features}) if features else (400, {"error": {"msg": "Missing feature store"}})
        if kind == "model-store":
            if body["name"] in kept:
                return 400, {"error": {"msg": "model already exists"}}
            kept[body["name"]] = body
            return 200, {}
        for feature in body:
            store = kept.setdefault(feature["store"], [])
            if feature["name"] in [other["name"] for other in store]:
                return 400, {"error": {"msg": "already contained in the store"}}
            store.append(feature)
        return 200, {}
