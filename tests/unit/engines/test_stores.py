"""Models and feature sets are put into the stores of engines, once."""

import json

import pytest

from fake_engines import LtrStores, SolrStores, serving
from podium.base.errors import IncompatibleError, ParameterError, RequestError
from podium.base.http_requests import Server
from podium.engines.stores import plan, push
from podium.export.feature_sets import feature_set

NAMES = ["lucene_bm25(field=title)", "stored(field=stars)"]


def ltr_model(weight=1.0, name="podium"):
    definition = json.dumps(dict.fromkeys(NAMES, weight))
    return json.dumps({"model": {"name": name, "model": {"type": "model/linear", "definition": definition}}}).encode()


def solr_model(weight=1.0, store="_DEFAULT_"):
    body = {"class": "org.apache.solr.ltr.model.LinearModel", "name": "podium", "store": store}
    features, params = [{"name": name} for name in NAMES], {"weights": dict.fromkeys(NAMES, weight)}
    return json.dumps({**body, "features": features, "params": params}).encode()


CASES = {
    "elasticsearch-ltr": (LtrStores, ltr_model, ["the feature store", "feature set podium", "model podium"]),
    "solr": (SolrStores, solr_model, ["feature store podium", "model podium"]),
}


@pytest.mark.parametrize("target", CASES)
def test_the_first_time_all_is_added_and_then_nothing(target):
    stores, model, items = CASES[target]
    features = feature_set(NAMES, target).body
    with serving(stores()) as fake:
        server = Server(fake.url)
        assert push(server, plan(target, model(), features)) == [f"{item} added" for item in items]
        assert push(server, plan(target, model(), features)) == [f"{item} is there already" for item in items]
        assert [method for method, _, _ in fake.requests[-len(items) :]] == ["GET"] * len(items)
        with pytest.raises(IncompatibleError, match=r"has another model podium.*--replace"):
            push(server, plan(target, model(2.0), features))
        done = push(server, plan(target, model(2.0), features), replace=True)
        assert done[-1] == "model podium replaced"
        assert push(server, plan(target, model(2.0), None))[-1] == "model podium is there already"


def test_another_feature_set_is_replaced_only_if_asked_for():
    with serving(LtrStores()) as fake:
        server = Server(fake.url)
        push(server, plan("opensearch-ltr", None, feature_set(NAMES, "opensearch-ltr").body, name="mine"))
        other = plan("opensearch-ltr", ltr_model(), feature_set(NAMES[:1], "opensearch-ltr").body, name="mine")
        with pytest.raises(IncompatibleError, match="another feature set mine"):
            push(server, other)
        assert push(server, other, replace=True)[1:] == ["feature set mine replaced", "model podium added"]
        assert "POST /_ltr/_featureset/mine/_createmodel" in fake.paths()


@pytest.mark.parametrize("target", CASES)
def test_a_model_is_made_again_if_its_features_are_replaced(target):
    """It holds those that it was made with: the same model of other features gives other scores."""
    stores, model, items = CASES[target]
    body = feature_set(NAMES, target).body
    features = [body, body.replace(b"keywords", b"words")]
    with serving(stores()) as fake:
        server = Server(fake.url)
        push(server, plan(target, model(), features[0]))
        done = push(server, plan(target, model(), features[1]), replace=True)
        assert done[-2:] == [f"{item} replaced" for item in items[-2:]]
        assert push(server, plan(target, model(), features[1])) == [f"{item} is there already" for item in items]
        written = [path for path in fake.paths() if not path.startswith("GET")]
        assert written[-3 if target != "solr" else -4].startswith("DELETE"), "the model goes before its features"
        assert "model" in written[-1]


def test_a_model_that_holds_other_features_or_another_store_is_not_the_same():
    with serving(LtrStores()) as fake:
        server, target = Server(fake.url), "opensearch-ltr"
        push(server, plan(target, ltr_model(), feature_set(NAMES, target).body))
        other = feature_set(["lucene_bm25(field=text)", NAMES[1]], target).body
        push(server, plan(target, None, other), replace=True)
        with pytest.raises(IncompatibleError, match="has another model podium"):
            push(server, plan(target, ltr_model(), other))
    with serving(SolrStores()) as fake:
        push(Server(fake.url), plan("solr", solr_model(), None))
        with pytest.raises(IncompatibleError, match="has another model podium"):
            push(Server(fake.url), plan("solr", solr_model(store="other"), None))


def test_features_of_others_in_a_store_of_solr_are_not_deleted():
    stores = SolrStores()
    features = feature_set(NAMES, "solr", store="shared").body
    with serving(stores) as fake:
        server = Server(fake.url)
        stores.features["shared"] = [{"name": "theirs", "class": "x", "params": {}, "store": "shared"}]
        assert push(server, plan("solr", None, features)) == ["feature store shared added"]
        assert push(server, plan("solr", None, features)) == ["feature store shared is there already"]
        changed = feature_set(NAMES, "solr", store="shared", missing=True).body
        with pytest.raises(IncompatibleError, match="has these features otherwise, and others too"):
            push(server, plan("solr", None, changed), replace=True)
        assert len(stores.features["shared"]) == 3


def test_a_search_pipeline_is_added_once():
    pipelines = {}

    def respond(method, path, body):
        if method == "PUT":
            pipelines[path] = body
        return (200, {"podium": pipelines[path]}) if path in pipelines else (404, {})

    pipeline = json.dumps({"phase_results_processors": []}).encode()
    with serving(respond) as fake:
        assert push(Server(fake.url), plan("opensearch-hybrid", pipeline, None)) == ["search pipeline podium added"]
        assert push(Server(fake.url), plan("opensearch-hybrid", pipeline, None)) == [
            "search pipeline podium is there already"
        ]
        assert list(pipelines) == ["/_search/pipeline/podium"]


def test_refusals_are_in_words():
    for target, model, features, says in [
        ("solr", None, None, "nothing to push"),
        ("elasticsearch-ltr", None, None, "nothing to push"),
        ("elasticsearch-ltr", b"not json", None, "the model is no JSON file"),
        ("elasticsearch-ltr", solr_model(), None, r"lacks model\.name: is it what podium export wrote"),
        ("solr", None, b"{}", "a list of features"),
        ("opensearch-hybrid", b"{}", b"{}", "has no feature set"),
    ]:
        with pytest.raises(ParameterError, match=says):
            plan(target, model, features)
    for status, content, says in [
        (401, {}, "answered 401: .* Set PODIUM_ENGINE_AUTH"),
        (200, ["x"], "not an answer of this kind of engine"),
    ]:
        with serving(lambda *_, s=status, c=content: (s, c)) as fake, pytest.raises(RequestError, match=says):
            push(Server(fake.url), plan("elasticsearch-ltr", ltr_model(), None))


@pytest.mark.parametrize(
    ("target", "features"),
    [
        ("solr", [{"store": "..", "name": "x", "class": "c", "params": {}}]),
        ("solr", [{"store": "s", "name": "x", "class": "c"}]),
        ("solr", ["x"]),
        ("elasticsearch-ltr", {"featureset": {"name": "..", "features": []}}),
        ("elasticsearch-ltr", {"featureset": {"name": "s"}}),
    ],
)
def test_files_that_export_did_not_write_are_refused_before_anything_is_sent(target, features):
    with pytest.raises(ParameterError):
        plan(target, None, json.dumps(features).encode())


def test_names_of_any_kind_are_parts_of_a_path():
    features = {"featureset": {"name": ["a/../b", "\ud800"], "features": []}}
    [_, item] = plan("elasticsearch-ltr", None, json.dumps(features).encode())
    assert item.path.count("/") == 3


def test_an_answer_that_is_nested_too_deeply_is_refused_in_words():
    deep = b'{"_source": {"featureset": {"features": [{"template": ' + b"[" * 900 + b"]" * 900 + b"}]}}}"

    def respond(method, path, body):
        return 200, {"stores": {"_default_": {}}} if path == "/_ltr" else deep

    with serving(respond) as engine, pytest.raises(RequestError, match="not an answer of this kind of engine"):
        push(Server(engine.url), plan("elasticsearch-ltr", None, json.dumps(feature_set_of(NAMES)).encode()))


def feature_set_of(names):
    return {"featureset": {"name": "podium", "features": [{"name": name, "template": {}} for name in names]}}
