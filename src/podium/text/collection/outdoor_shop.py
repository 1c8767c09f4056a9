"""Example collection for offline use: the catalogue of an invented outdoor shop, with judged queries.

Judges gave 3 to a product of the kind that is asked for, with the right purpose and material, and less to one that
lacks some of it or has a poor rating; now and then they were careless. Accessories repeat the words of the products
that they belong to, so that BM25 ranks them high, but nobody who looks for a tent wants pegs: their grade is 0. Brands,
categories, prices and ratings are stored.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

_BRANDS = ("Northpeak", "Fjellstrom", "Alta Via", "Greywolf", "Kestrel", "Sundial", "Birch & Pine", "Tarn")


@dataclass(frozen=True)
class _Kind:
    """A kind of products: its purposes and materials, a usual price, and its accessories."""

    name: str
    purposes: tuple[str, ...]
    materials: tuple[str, ...]
    price: float
    accessories: tuple[str, ...]
    praise: str


_KINDS = (
    _Kind("tent", ("family", "trekking", "winter"), ("lightweight", "canvas"), 260,
          ("tent pegs", "tent footprint", "tent repair tape"), "It stands in five minutes and keeps the rain out."),
    _Kind("sleeping bag", ("summer", "winter", "kids"), ("down", "synthetic"), 150,
          ("sleeping bag liner", "sleeping bag compression sack"), "Warm, soft, and small enough for the side pocket."),
    _Kind("hiking boots", ("mens", "womens", "alpine"), ("leather", "waterproof"), 170,
          ("hiking boots laces", "hiking boots care wax"), "The sole grips on wet rock, and the heel stays in place."),
    _Kind("rain jacket", ("mens", "womens", "cycling"), ("waterproof", "lightweight"), 120,
          ("rain jacket wash", "rain jacket stuff sack"), "Taped seams, and a hood that turns with the head."),
    _Kind("backpack", ("school", "trekking", "climbing"), ("lightweight", "canvas"), 110,
          ("backpack rain cover", "backpack hip belt"), "The frame carries the load on the hips."),
    _Kind("camping stove", ("expedition", "family", "solo"), ("gas", "petrol"), 70,
          ("camping stove windshield", "camping stove gas cartridge"), "Boils a litre in four minutes, also on snow."),
    _Kind("head torch", ("running", "caving", "kids"), ("rechargeable", "waterproof"), 45,
          ("head torch battery", "head torch strap"), "A wide beam for the path and a narrow one for the distance."),
    _Kind("climbing rope", ("gym", "alpine", "ice"), ("dry treated", "lightweight"), 140,
          ("climbing rope bag", "climbing rope brush"), "Handles well with gloves on and marks its middle clearly."),
)  # fmt: skip


def outdoor_shop(seed: int = 0) -> tuple[list[dict[str, Any]], list[dict[str, str]], dict[str, dict[str, float]]]:
    """Documents, queries, and judgments: query → document → grade from 0 to 3."""
    rng = random.Random(seed)
    documents = [_product(rng, kind, purpose, material, brand)
                 for kind in _KINDS for purpose in kind.purposes for material in kind.materials
                 for brand in rng.sample(_BRANDS, 5)]  # fmt: skip
    documents += [_accessory(rng, kind, name, brand)
                  for kind in _KINDS for name in kind.accessories for brand in rng.sample(_BRANDS, 4)]  # fmt: skip
    rng.shuffle(documents)
    for number, document in enumerate(documents):
        document["id"] = f"P{1000 + number}"
    queries: list[dict[str, str]] = []
    qrels: dict[str, dict[str, float]] = {}
    for text, kind, wanted in _queries(rng):
        id = f"q{len(queries) + 1}"
        grades = {str(document["id"]): _grade(rng, document, kind, wanted) for document in documents}
        queries.append({"id": id, "text": text})
        qrels[id] = {document: grade for document, grade in grades.items() if grade}
    for document in documents:
        del document["about"]  # what the judges go by
    return documents, queries, qrels


def _product(rng: random.Random, kind: _Kind, purpose: str, material: str, brand: str) -> dict[str, Any]:
    words = [material, purpose]
    rng.shuffle(words)
    line = rng.choice(["Ridge", "Summit", "Trail", "Lake", "Aurora", "Pioneer", "Storm"])
    use = rng.choice(["weekends outside", "long tours", "bad weather", "the first trip", "every season"])
    in_title = [word for word in words if rng.random() < 0.6]  # the others are in the text alone
    text = f"{kind.praise} Made for {use}: {' and '.join(words)}. {rng.choice(_EXTRAS)}"
    return {
        "id": "", "title": " ".join([brand, line, *in_title, kind.name]), "text": text, "brand": brand,
        "category": kind.name, "price": round(kind.price * rng.uniform(0.6, 1.6), 2),
        "rating": round(rng.uniform(2.8, 5.0), 1), "about": (kind.name, {purpose, material}),
    }  # fmt: skip


def _accessory(rng: random.Random, kind: _Kind, name: str, brand: str) -> dict[str, Any]:
    purpose, material = rng.choice(kind.purposes), rng.choice(kind.materials)
    text = (
        f"{name[0].upper()}{name[1:]} for your {material} {kind.name}, {purpose} or not. "
        f"Keep your {kind.name} as good as new. {rng.choice(_EXTRAS)}"
    )
    return {
        "id": "", "title": f"{brand} {name}", "text": text, "brand": brand, "category": f"{kind.name} accessories",
        "price": round(rng.uniform(4, 22), 2), "rating": round(rng.uniform(2.8, 5.0), 1),
        "about": ("accessory", set()),
    }  # fmt: skip


_POOR, _CARELESS = 3.5, 0.15
"""Rating below which a product is judged lower, and the share of judgments that are too low."""
_EXTRAS = (
    "Two years of guarantee.", "Repaired in our own workshop.", "Sewn in Portugal.", "Our bestseller of last year.",
    "Free returns within 60 days.", "Recycled material throughout.",
)  # fmt: skip


def _queries(rng: random.Random) -> list[tuple[str, str, set[str]]]:
    """Text, kind and wanted words of queries: each kind with a purpose, a material, or both."""
    asked: list[tuple[str, str, set[str]]] = []
    for kind in _KINDS:
        for purpose in kind.purposes:
            asked += [(f"{purpose} {kind.name}", kind.name, {purpose})]
            asked += [
                (f"{material} {kind.name} {purpose}", kind.name, {purpose, material}) for material in kind.materials
            ]
        asked += [(f"{material} {kind.name}", kind.name, {material}) for material in kind.materials]
    rng.shuffle(asked)
    return asked


def _grade(rng: random.Random, document: dict[str, Any], kind: str, wanted: set[str]) -> float:
    """3 for the kind with all wanted words, 2 with one of two, 1 for the kind alone; one less if poor or careless."""
    name, words = document["about"]
    if name != kind:
        return 0.0
    grade = 1 + 2 * len(words & wanted) // len(wanted)
    return float(max(0, grade - int(document["rating"] < _POOR) - int(rng.random() < _CARELESS)))
