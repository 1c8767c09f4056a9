"""Qrels and runs as dictionaries."""

from podium.formats import Qrels


def nested(judged):
    """Query → document → number."""
    names = judged.document_ids.tolist()
    values = (judged.labels if isinstance(judged, Qrels) else judged.scores).tolist()
    bounds = zip(judged.query_ids.tolist(), judged.offsets[:-1], judged.offsets[1:], strict=True)
    return {query: dict(zip(names[a:b], values[a:b], strict=True)) for query, a, b in bounds}
