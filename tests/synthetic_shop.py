"""A synthetic shop: products, queries, judgments and a UBI log, the same at every call.

A product has a kind ("tent"), a brand, a colour and a use, in its title or only in other fields. A query asks for some
of them; a product that has all of them is relevant, the more so the better it is rated. Two rankers show pages to users
who look at rank k with probability 1/k, and click what they see by its grade.
"""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KINDS = ("tent", "stove", "jacket", "backpack", "lamp", "rope", "boot", "bottle", "sleeping bag", "trekking pole")
BRANDS = ("northpeak", "fellmark", "ember", "kestrel", "ridgeway", "tarn", "halden", "lumo")
COLOURS = ("red", "blue", "green", "black", "orange", "grey")
USES = ("winter camping", "long hikes", "family trips", "alpine climbing", "rainy days", "travelling light")
LONGEST = 10
"""Documents on a page."""


@dataclass(frozen=True)
class Shop:
    products: list[dict[str, Any]]
    queries: list[dict[str, str]]  # id and text
    grades: dict[str, dict[str, int]]  # by text of the query and id of the product
    searches: list[dict[str, Any]]  # UBI queries
    events: list[dict[str, Any]]  # UBI events

    def write(self, folder: Path) -> None:
        """Write products.jsonl, dump.jsonl, queries.jsonl, judgments.csv and two UBI files."""
        hits = [
            {"_index": "shop", "_id": one["id"], "_source": {k: v for k, v in one.items() if k != "id"}}
            for one in self.products
        ]
        rows = [f"{query},{id},{grade}" for query, of in self.grades.items() for id, grade in of.items()]
        texts = {
            "products.jsonl": _lines(self.products), "dump.jsonl": _lines(hits), "queries.jsonl": _lines(self.queries),
            "judgments.csv": "\n".join(["query,product_id,rating", *rows]) + "\n",
            "ubi_queries.ndjson": _lines(self.searches), "ubi_events.ndjson": _lines(self.events),
        }  # fmt: skip
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")


def make_shop(products: int = 2000, queries: int = 200, pages: int = 3000, *, judged: int = 120, seed: int = 7) -> Shop:
    """Make a shop of which the first `judged` queries have judgments, and `pages` results pages."""
    rng = random.Random(seed)
    catalogue = [_product(k, rng) for k in range(products)]
    wanted = _wanted(queries, rng)
    texts = [" ".join(words.values()) for words in wanted]
    truth = {
        text: {id: grade for one in catalogue if (grade := _grade(one, words)) > 0 for id in [one["id"]]}
        for text, words in zip(texts, wanted, strict=True)
    }
    grades = {text: _judged(truth[text], catalogue, rng) for text in texts[:judged]}
    searches, events = _log(catalogue, texts, truth, pages, rng)
    return Shop(catalogue, [{"id": f"q{k}", "text": text} for k, text in enumerate(texts)], grades, searches, events)


def _product(k: int, rng: random.Random) -> dict[str, Any]:
    kind, brand, colour, use = (rng.choice(words) for words in (KINDS, BRANDS, COLOURS, USES))
    title = f"{kind} {rng.choice(['Pro', 'Light', 'Classic', 'Two', 'Max'])}"
    title = f"{colour} {title}" if rng.random() < 0.5 else title
    title = f"{brand} {title}" if rng.random() < 0.5 else title
    other = rng.choice(KINDS)
    return {
        "id": f"P{k}", "title": title,
        "description": f"Made for {use}. Colour: {colour}. Goes well with a {other} of ours. Two years of warranty.",
        "brand": {"name": brand}, "category": ["outdoor", kind], "price": round(rng.uniform(5, 300), 2),
        "rating": round(rng.uniform(1, 5), 1), "in_stock": rng.random() < 0.9, "colour": colour, "use": use,
        "released": f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}", "photo": f"https://img.shop.org/{k}.jpg",
    }  # fmt: skip


def _wanted(n: int, rng: random.Random) -> list[dict[str, str]]:
    """What n different queries ask for."""
    choices: list[dict[str, str]] = []
    for brand, colour, use in ((1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)):
        parts = [BRANDS if brand else ("",), COLOURS if colour else ("",), KINDS, USES if use else ("",)]
        choices += [
            {name: word for name, word in zip(("brand", "colour", "kind", "use"), words, strict=True) if word}
            for words in itertools.product(*parts)
        ]
    return rng.sample(choices, n)


def _grade(product: dict[str, Any], words: dict[str, str]) -> int:
    has = {"brand": product["brand"]["name"], "colour": product["colour"], "use": product["use"],
           "kind": product["category"][1]}  # fmt: skip
    if any(has[name] != word for name, word in words.items()):
        return 0
    return 1 + (product["rating"] >= 2.5) + (product["rating"] >= 4)


def _judged(truth: dict[str, int], catalogue: list[dict[str, Any]], rng: random.Random) -> dict[str, int]:
    others = rng.sample([one["id"] for one in catalogue if one["id"] not in truth], 20)
    return {**truth, **dict.fromkeys(others, 0)}


def _log(
    catalogue: list[dict[str, Any]], texts: list[str], truth: dict[str, dict[str, int]], pages: int, rng: random.Random
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Queries and events of UBI: two rankers take turns, one by price and one at random."""
    searches, events = [], []
    price = {one["id"]: one["price"] for one in catalogue}
    for k in range(pages):
        text = rng.choice(texts)
        shown = [*truth[text], *(one["id"] for one in rng.sample(catalogue, LONGEST))]
        ranker = rng.choice(["A", "B"])
        fixed = random.Random(f"{text} {ranker}")  # the ranking of a ranker for a query does not change
        shown = sorted(dict.fromkeys(shown), key=lambda id: price[id] if ranker == "A" else fixed.random())[:LONGEST]
        name, typed = f"s{k}", text.title() if rng.random() < 0.3 else f" {text} "
        stamp = f"2026-01-{1 + k % 28:02d}T10:00:00Z"
        searches.append(
            {"query_id": name, "client_id": f"c{k % 400}", "user_query": typed, "timestamp": stamp,
             "application": "shop", "query_response_hit_ids": shown,
             "query_attributes": {"experiment": ranker}}
        )  # fmt: skip
        for rank, id in enumerate(shown, 1):
            clicked = rng.random() < 1 / rank and rng.random() < 0.1 + 0.25 * truth[text].get(id, 0)
            if clicked:
                place = {"object": {"object_id": id}, "position": {"ordinal": rank}}
                events.append(
                    {"query_id": name, "action_name": "click", "timestamp": stamp, "application": "shop",
                     "client_id": f"c{k % 400}", "event_attributes": place}
                )  # fmt: skip
    return searches, events


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)
