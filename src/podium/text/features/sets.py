"""Named sets of features, for the fields that an index has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from podium.base.errors import ParameterError, UnknownNameError
from podium.base.registry import split_list
from podium.text.features.base import WHOLE, Feature
from podium.text.features.document_level import has_links, has_urls, has_visits
from podium.text.index.stored_kinds import stored_numbers

if TYPE_CHECKING:
    from podium.text.index.index import Index


def read_features(wanted: str | Sequence[str | Feature], index: Index) -> tuple[Feature, ...]:
    """Parse names of features and of sets, e.g. "podium" or "letor4,bm25(field=title,k1=0.9)"."""
    words: list[str | Feature] = [*split_list(wanted, wanted)] if isinstance(wanted, str) else list(wanted)
    features: list[Feature] = []
    for word in words:
        if isinstance(word, Feature):
            features.append(word)
        elif word.strip() in SETS:
            features += SETS[word.strip()](index)
        else:
            try:
                features.append(Feature.parse(word))
            except UnknownNameError as error:
                if error.kind != "feature":
                    raise
                raise UnknownNameError(
                    "feature or set of features", error.name, {*SETS, *Feature.catalogue()}
                ) from None
    twice = [feature for k, feature in enumerate(features) if feature in features[:k]]
    if twice:
        raise ParameterError(f"feature {twice[0]} is asked for twice.")
    if not features:
        raise ParameterError("no features are asked for.")
    return tuple(features)


def podium(index: Index) -> list[Feature]:
    """The default set: matching, language models, phrases and proximity of every field; similarity of the whole.

    Also features of links, visits and URLs, and the stored numbers, as far as the index has them.
    """
    words = "tf log_tf norm_tf tfidf length bm25 lmir_abs lmir_dir lmir_jm covered covered_ratio exact ngram_bm25 span"
    streams = [*index.fields, WHOLE] if len(index.fields) > 1 else [WHOLE]
    features = [_of(word, stream) for stream in streams for word in words.split()]
    features += [_of("edit", index.title)] if index.title in index.fields else []
    features += [Feature.parse(word) for word in ("cosine", "prf", "lsi")] + document_features(index)
    return features + _stored(index)


def document_features(index: Index) -> list[Feature]:
    """Query-independent features of links, visits and URLs, as far as the index has them."""
    words = ["inlinks", "outlinks", "pagerank", "authority", "hub"] if has_links(index) else []
    words += ["browserank"] if has_visits(index) else []
    words += ["url_slashes", "url_length", "child_pages"] if has_urls(index) else []
    return [Feature.parse(word) for word in words]


def letor4(index: Index) -> list[Feature]:
    """The 46 features of LETOR 4.0, in its order; the streams are body (or text), anchor, title, url and the whole."""
    streams = ["text" if "text" in index.fields and "body" not in index.fields else "body"]
    streams += ["anchor", "title", "url", WHOLE]
    words = ["tf", "idf", "tfidf", "length", "bm25", "lmir_abs", "lmir_dir", "lmir_jm"]
    graph = ["pagerank", "inlinks", "outlinks", "url_slashes", "url_length", "child_pages"]
    return [_of(word, stream) for word in words for stream in streams] + [Feature.parse(word) for word in graph]


def letor3_ohsumed(index: Index) -> list[Feature]:
    """The 45 features of LETOR 3.0 for OHSUMED: 15 each of title, abstract and both."""
    words = (
        "tf log_tf norm_tf log_norm_tf idf log_idf log_icf log_norm_tfidf tfidf log_norm_tficf bm25 log_bm25 "
        "lmir_dir lmir_jm lmir_abs"
    )
    return [_of(word, stream) for stream in (*index.fields, WHOLE) for word in words.split()]


def mslr_text(index: Index) -> list[Feature]:
    """The text features of MSLR-WEB, 25 kinds for every field and the whole, in its order."""
    streams = [*index.fields, WHOLE]
    over = ["min_tf", "max_tf", "mean_tf", "var_tf"]
    kinds = ["covered", "covered_ratio", "length", "idf", "tf", *over, "norm_tf"]
    kinds += [f"{word}(of=norm_tf)" for word in over] + ["tfidf"] + [f"{word}(of=tfidf)" for word in over]
    kinds += ["boolean", "cosine", "bm25", "lmir_abs", "lmir_dir", "lmir_jm"]
    return [_of(word, stream) for word in kinds for stream in streams]


def elasticsearch(index: Index) -> list[Feature]:
    """Features that Elasticsearch and OpenSearch compute to the same numbers: BM25 and phrases, stored numbers."""
    return _of_engine(["lucene_bm25", "lucene_phrase"], index)


def solr(index: Index) -> list[Feature]:
    """Features that Solr computes to the same numbers: BM25, phrases and lengths, stored numbers."""
    return _of_engine(["lucene_bm25", "lucene_phrase", "lucene_length"], index)


def _of_engine(words: list[str], index: Index) -> list[Feature]:
    features = [_of(word, field) for field in index.fields for word in words]
    return features + _stored(index)


def _stored(index: Index) -> list[Feature]:
    return [Feature.parse(f"stored(field={name})") for name in stored_numbers(index).fields]


def _of(word: str, stream: str) -> Feature:
    """A feature of a field."""
    if stream == WHOLE:
        return Feature.parse(word)
    name, _, rest = word.partition("(")
    return Feature.parse(f"{name}(field={stream}{',' + rest[:-1] if rest else ''})")


SETS: dict[str, Callable[[Index], list[Feature]]] = {
    "podium": podium,
    "letor4": letor4,
    "letor3-ohsumed": letor3_ohsumed,
    "mslr-text": mslr_text,
    "elasticsearch": elasticsearch,
    "solr": solr,
}
