"""Texts of queries and documents by id, for commands about judgments."""

from __future__ import annotations


def query_texts(source: str) -> dict[str, str]:
    """The text of each query of a file."""
    from podium.text.collection.collection import read_queries

    return {str(topic.id): topic.text for topic in read_queries(source)}


def document_texts(source: str) -> dict[str, str]:
    """The texts of each document of a file or folder, each under the name of its field if there are several."""
    from podium.text.collection.collection import read_documents

    texts = {}
    for document in read_documents(source):
        fields = {name: value for name, value in document.items() if name != "id" and isinstance(value, str) and value}
        several = len(fields) > 1
        texts[str(document["id"])] = "\n".join(f"{k}: {v}" if several else v for k, v in fields.items())
    return texts
