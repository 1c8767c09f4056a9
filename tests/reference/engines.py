"""Engines that score exported files, one document at a time, by the rules of each engine; slow and obvious.

Each takes the bytes of a file and the features of a document by name, as float32, NaN where absent, and reads nothing
else. Written from the engines' rules, not from podium's code.
"""

import json
import math
import re
import xml.etree.ElementTree as ET

import numpy as np


def F(value):  # noqa: N802
    """A float32; what is too large is infinite."""
    with np.errstate(over="ignore"):
        return np.float32(value)


def ranklib(raw, x):
    """Trees: value <= threshold goes left, an absent feature is 0; a float is added to in double. Weights: doubles."""
    x = {place: F(0) if math.isnan(value) else F(value) for place, value in enumerate(x.values(), 1)}
    first, _, rest = raw.decode().partition("\n")
    if first.strip() == "## Coordinate Ascent":
        total = 0.0
        weights = next(line for line in rest.split("\n") if line.strip() and not line.startswith("##"))
        for l, w in (pair.split(":") for pair in weights.split()):
            total += float(w) * float(x[int(l)])
        return total
    assert first.strip() == "## LambdaMART"
    body = "\n".join(line for line in rest.split("\n") if not line.startswith("##"))
    total = F(0)
    for tree in ET.fromstring(body).findall("tree"):
        node = tree.find("split")
        while node.find("output") is None:
            value = x[int(node.find("feature").text)]
            side = "left" if value <= F(node.find("threshold").text) else "right"
            node = next(child for child in node.findall("split") if child.get("pos") == side)
        total = F(float(total) + float(F(node.find("output").text)) * float(F(tree.get("weight"))))
    return float(total)


def elasticsearch_ltr(raw, x):
    """Trees: threshold > value goes to yes, an absent feature to missing; weights: absent is 0; floats throughout."""
    model = json.loads(raw)["model"]["model"]
    definition = json.loads(model["definition"])
    if model["type"] == "model/linear":
        total = F(0)
        for name, weight in definition.items():
            total = F(total + F(F(weight) * (F(0) if math.isnan(x[name]) else F(x[name]))))
        return float(total)
    assert model["type"] == "model/xgboost+json"
    assert definition["objective"].startswith("rank:")
    total = F(0)
    for node in definition["splits"]:
        while "leaf" not in node:
            value = x[node["split"]]
            below = F(node["split_condition"]) > F(value)
            named = node["missing"] if math.isnan(value) else node["yes"] if below else node["no"]
            node = next(child for child in node["children"] if child["nodeid"] == named)
        total = F(total + F(node["leaf"]))
    return float(total)


def elastic(raw, x):
    """Doubles: value <= threshold goes left, an absent one to its default side; the score is a float at last."""
    total = 0.0
    for one in json.loads(raw)["definition"]["trained_model"]["ensemble"]["trained_models"]:
        nodes = {node["node_index"]: node for node in one["tree"]["tree_structure"]}
        node = nodes[0]
        while "leaf_value" not in node:
            value = float(x[one["tree"]["feature_names"][node["split_feature"]]])
            left = node["default_left"] if math.isnan(value) else value <= node["threshold"]
            node = nodes[node["left_child"] if left else node["right_child"]]
        total += node["leaf_value"]
    return float(F(total))


def solr(raw, x):
    """Floats: value <= threshold + 1e-6f goes left. An absent feature is 0, or goes to `missing` where that counts."""
    model = json.loads(raw)
    params, kind = model["params"], model["class"].rpartition(".")[2]
    if kind == "LinearModel":
        total = F(0)
        for feature in model["features"]:
            value = x[feature["name"]]
            total = F(total + F(F(params["weights"][feature["name"]]) * (F(0) if math.isnan(value) else F(value))))
        return float(total)
    assert kind == "MultipleAdditiveTreesModel"
    null_is_zero, total = params.get("isNullSameAsZero", True), F(0)
    for tree in params["trees"]:
        node = tree["root"]
        while "value" not in node:
            value = x[node["feature"]]
            if math.isnan(value) and not null_is_zero:
                node = node[node["missing"]]
                continue
            value = F(0) if math.isnan(value) else F(value)
            node = node["left" if value <= F(F(node["threshold"]) + F(1e-6)) else "right"]
        total = F(total + F(F(tree["weight"]) * F(node["value"])))
    return float(total)


def vespa(raw, x):
    """Doubles: the expression itself; comparisons with NaN are false."""
    text = re.search(r"expression \{(.*?)\}", raw.decode(), re.DOTALL)[1]
    text = text.replace("if (", "choose(").replace("!(", "no(")
    for name in sorted(x, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", f"x[{name!r}]", text)
    names = {"choose": lambda c, a, b: a if c else b, "no": lambda c: not c, "x": {k: float(v) for k, v in x.items()}}
    return eval(" ".join(text.split()), names)  # what podium itself wrote


ENGINES = {
    "ranklib": ranklib,
    "elasticsearch-ltr": elasticsearch_ltr,
    "opensearch-ltr": elasticsearch_ltr,
    "elastic": elastic,
    "solr": solr,
    "vespa": vespa,
}
