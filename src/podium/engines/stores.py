"""Stores of live engines: feature sets, models and search pipelines are put there, once.

What the engine has already stays; what differs is replaced only if asked for, since searches may use it. A model keeps
the features that it was made with, so it goes before they are replaced, and is made again after them: a run that was
killed in between goes on where it was. `plan` gives the requests without sending any.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, NoReturn
from urllib.parse import quote

from podium.base.errors import IncompatibleError, ParameterError, PodiumError, RequestError
from podium.base.http_requests import HttpAnswer, Server

_SOLR = ("name", "class", "params")
StoreTarget = Literal["elasticsearch-ltr", "opensearch-ltr", "solr", "opensearch-hybrid"]


class Item(NamedTuple):
    """Something to put into a store: how to look for it, to delete it and to add it."""

    what: str
    look: str  # path of GET
    has: Callable[[Any], Any]  # what is there, from the answer; None if it is not
    content: Any  # what should be there, as `has` gives it
    delete: str | None  # path of DELETE; None if adding replaces it
    method: str
    path: str
    body: bytes | None


def plan(target: StoreTarget, model: bytes | None, features: bytes | None, *, name: str | None = None) -> list[Item]:
    """What to put into the stores of an engine, in order. `name` is that of the feature set, or of the pipeline."""
    items = _ITEMS[target](_json(model, "model"), _json(features, "feature set"), name)
    if not items:
        raise ParameterError("nothing to push: give a model, --feature-set FILE, or both.")
    return items


def push(server: Server, items: list[Item], *, replace: bool = False) -> list[str]:
    """Put items into the stores of a server; returns what was done, a line each."""
    done, deleted = [], set[str]()
    for place, item in enumerate(items):
        there = None if item.what in deleted else _look(server, item)
        if there is not None and there == _plain(item.content):
            done.append(f"{item.what} is there already")
            continue
        if there is not None and not replace:
            raise IncompatibleError(
                f"{server.url} has another {item.what}, which searches may use. Choose another name, or add --replace."
            )
        if there is not None:
            deleted |= {item.what, *_delete_there(server, items[place + 1 :])}
            if item.delete is not None:
                _expect(server, "DELETE", item.delete, None)
        _expect(server, item.method, item.path, item.body)
        done.append(f"{item.what} {'replaced' if item.what in deleted else 'added'}")
    return done


def _delete_there(server: Server, items: list[Item]) -> list[str]:
    """Delete those that are there; returns their names."""
    there = [item for item in items if item.delete is not None and _look(server, item) is not None]
    for item in there:
        _expect(server, "DELETE", str(item.delete), None)
    return [item.what for item in there]


def _look(server: Server, item: Item) -> Any:
    """What is there, to compare; None if it is not there."""
    answer = server.send("GET", item.look)
    if answer.status in (400, 404):  # Solr answers 400 if there is no such feature store
        return None
    if answer.status != 200:
        _refuse(server, "GET", item.look, answer)
    try:
        return _plain(item.has(json.loads(answer.content)))
    except PodiumError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        where = f"GET {server.url}{item.look}"
        raise RequestError(f"{where}: not an answer of this kind of engine: {answer.text}") from None


def _expect(server: Server, method: str, path: str, body: bytes | None) -> None:
    answer = server.send(method, path, body)
    if answer.status not in (200, 201):
        _refuse(server, method, path, answer)


def _refuse(server: Server, method: str, path: str, answer: HttpAnswer) -> NoReturn:
    hint = " Set PODIUM_ENGINE_AUTH." if answer.status in (401, 403) else ""
    raise RequestError(f"{method} {server.url}{path} answered {answer.status}: {answer.text or 'nothing'}.{hint}")


def _json(raw: bytes | None, what: str) -> Any:
    if raw is None:
        return None
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise ParameterError(f"the {what} is no JSON file, as podium export writes it for a search engine.") from None


def _plain(value: Any) -> Any:
    """A value to compare: JSON within texts is parsed, as engines give some objects back as text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return _plain(json.loads(value))
        except (ValueError, RecursionError):
            return value
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _at(value: Any, *path: str) -> Any:
    """The value at a path of a file; raises a clear error if it is not there."""
    for step in path:
        if not isinstance(value, Mapping) or step not in value:
            raise ParameterError(f"the file lacks {'.'.join(path)}: is it what podium export wrote for this engine?")
        value = value[step]
    return value


def _segment(name: str) -> str:
    """A name as a part of a path."""
    if name in ("", ".", ".."):
        raise ParameterError(f"{name!r} cannot be a name in a store. Choose another.")
    return quote(name, safe="", errors="surrogatepass")


def _ltr(model: Any, features: Any, name: str | None) -> list[Item]:
    """The LTR plugins: the store, a feature set, and a model, which belongs to a feature set."""
    items = [Item("the feature store", "/_ltr", _default_store, True, None, "PUT", "/_ltr", None)]
    set_name = name or (str(_at(features, "featureset", "name")) if features is not None else "podium")
    at = f"/_ltr/_featureset/{_segment(set_name)}"
    if features is not None:
        wanted = _at(features, "featureset", "features")
        body = json.dumps({"featureset": {"name": set_name, "features": wanted}}).encode()
        items.append(Item(f"feature set {set_name}", at, _set_of, wanted, None, "PUT", at, body))
    if model is not None:
        title = str(_at(model, "model", "name"))
        place, wanted = f"/_ltr/_model/{_segment(title)}", {"model": _at(model, "model", "model")}
        body = json.dumps(model).encode()
        if features is not None:
            wanted["features"] = _at(features, "featureset", "features")
        has = _ltr_model(with_features=features is not None)
        items.append(Item(f"model {title}", place, has, wanted, place, "POST", f"{at}/_createmodel", body))
    return items if len(items) > 1 else []


def _default_store(answer: Any) -> bool | None:
    return True if "_default_" in answer["stores"] else None


def _set_of(answer: Any) -> Any:
    return _definitions(answer["_source"]["featureset"]) if answer.get("found", True) else None


def _definitions(feature_set: Any) -> list[dict[str, Any]]:
    keys = ("name", "params", "template_language", "template")
    return [{key: feature[key] for key in keys if key in feature} for feature in feature_set["features"]]


def _ltr_model(*, with_features: bool) -> Callable[[Any], Any]:
    """The model, and the features of which it holds a copy."""

    def has(answer: Any) -> Any:
        if not answer.get("found", True):
            return None
        stored = answer["_source"]["model"]
        found: dict[str, Any] = {"model": {key: stored["model"][key] for key in ("type", "definition")}}
        return {**found, "features": _definitions(stored["feature_set"])} if with_features else found

    return has


def _solr(model: Any, features: Any, name: str | None) -> list[Item]:
    items = []
    if features is not None:
        if not isinstance(features, list) or not features:
            raise ParameterError("the feature set of Solr is a list of features, as podium export writes it.")
        stores = sorted({str(_at(feature, "store")) for feature in features})
        if len(stores) > 1:
            raise ParameterError(f"the features are of {len(stores)} stores: {', '.join(stores)}. Push one at a time.")
        place = f"/schema/feature-store/{_segment(stores[0])}"
        own, body = [{key: _at(feature, key) for key in _SOLR} for feature in features], json.dumps(features).encode()
        what = f"feature store {stores[0]}"
        has = _solr_features(stores[0], own)
        items.append(Item(what, place, has, own, place, "PUT", "/schema/feature-store", body))
    if model is not None:
        title = str(_at(model, "name"))
        wanted = {"class": _at(model, "class"), "params": _at(model, "params"), "store": _store_of(model)}
        place = f"/schema/model-store/{_segment(title)}"
        models, body = "/schema/model-store", json.dumps(model).encode()
        items.append(Item(f"model {title}", models, _solr_model(title), wanted, place, "PUT", models, body))
    return items


def _solr_feature(feature: Any) -> dict[str, Any]:
    return {key: feature[key] for key in _SOLR}


def _solr_features(store: str, wanted: list[dict[str, Any]]) -> Callable[[Any], Any]:
    """The features of the same names; a store with other ones cannot be replaced."""
    names = [feature["name"] for feature in wanted]

    def has(answer: Any) -> Any:
        stored = [_solr_feature(feature) for feature in answer["features"]]
        same = [feature for feature in stored if feature["name"] in names]
        if same and _plain(same) != _plain(wanted) and len(same) < len(stored):
            raise IncompatibleError(
                f"feature store {store} has these features otherwise, and others too, and Solr deletes only whole "
                "stores. Choose another: podium export --to 'solr(store=NAME)'."
            )
        return same or None

    return has


def _store_of(model: Any) -> str:
    return str(model.get("store", "_DEFAULT_"))


def _solr_model(name: str) -> Callable[[Any], Any]:
    def has(answer: Any) -> Any:
        for model in answer["models"]:
            if model["name"] == name:
                return {"class": model["class"], "params": model["params"], "store": _store_of(model)}
        return None

    return has


def _pipeline(model: Any, features: Any, name: str | None) -> list[Item]:
    if features is not None:
        raise ParameterError("a search pipeline has no feature set.")
    if model is None:
        return []
    title = name or "podium"
    place = f"/_search/pipeline/{_segment(title)}"
    body = json.dumps(model).encode()
    return [Item(f"search pipeline {title}", place, lambda answer: answer.get(title), model, None, "PUT", place, body)]


_ITEMS: dict[StoreTarget, Callable[[Any, Any, str | None], list[Item]]] = {
    "elasticsearch-ltr": _ltr,
    "opensearch-ltr": _ltr,
    "solr": _solr,
    "opensearch-hybrid": _pipeline,
}
