"""Answers of search engines in their documented form, from tables of features: for tests of logs and engines."""

import json
import math


def elasticsearch(documents, names):
    """The LTR plugins of Elasticsearch and OpenSearch: a value that is missing is left out."""
    hits = [
        {
            "_index": "shop",
            "_id": id,
            "_score": score,
            "fields": {"_ltrlog": [{"log": [_entry(name, value) for name, value in zip(names, row, strict=True)]}]},
            "matched_queries": ["logged"],
        }
        for id, score, row in documents
    ]
    total = {"value": len(hits), "relation": "eq"}
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return {"took": 3, "timed_out": False, "_shards": shards, "hits": {"total": total, "hits": hits}}


def _entry(name, value):
    return {"name": name} | ({} if math.isnan(value) else {"value": float(value)})


def solr(documents, names):
    """Solr's sparse format: a value of 0, or none, is left out."""
    docs = [
        {
            "id": id,
            "score": score,
            "[features]": ",".join(
                f"{name}={value!r}"
                for name, value in zip(names, map(float, row), strict=True)
                if value and value == value
            ),
        }
        for id, score, row in documents
    ]
    found = {"numFound": len(docs), "start": 0, "numFoundExact": True, "docs": docs}
    return {"responseHeader": {"status": 0, "QTime": 2}, "response": found}


def vespa(documents, names):
    """Vespa: all values are there, null if they are no number."""
    children = [
        {
            "id": f"id:shop:product::{id}",
            "relevance": score,
            "source": "shop",
            "fields": {
                "sddocname": "product",
                "documentid": f"id:shop:product::{id}",
                "matchfeatures": {
                    name: None if math.isnan(value) else float(value) for name, value in zip(names, row, strict=True)
                },
            },
        }
        for id, score, row in documents
    ]
    coverage = {"coverage": 100, "documents": 9, "full": True, "nodes": 1, "results": 1, "resultsFull": 1}
    return {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": len(children)}, "coverage": coverage,
                     "children": children}}  # fmt: skip


ANSWERS = {"elasticsearch": elasticsearch, "opensearch": elasticsearch, "solr": solr, "vespa": vespa}


def write_log(path, engine, queries, names):
    """Write a line for each query: its id, and the answer with its documents, (id, score, features) each."""
    lines = [
        json.dumps({"query": query, "response": ANSWERS[engine](documents, names)})
        for query, documents in queries.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    return path
