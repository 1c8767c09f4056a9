"""Make lucene.json: BM25, phrase and length scores of Lucene itself, for texts with stop words and repeated words.

    python tests/golden/make_lucene.py anserini-1.7.1-fatjar.jar        # with JPype1 and Java 21

The jar is in the package pyserini 1.6.0, and holds Lucene 9.9.1, whose similarity and length byte are those of
Elasticsearch 8, OpenSearch 2 and Solr 9. The analyser is Lucene's English one with the newer Snowball stemmer.
"""

import json
import random
import sys
from pathlib import Path

WORDS = ["heat", "transfer", "slab", "boundary", "layers", "flow", "laminar", "wings", "pressure", "theory", "shock"]
STOP = ["the", "of", "in", "and", "a"]
QUERIES = [
    "heat transfer",
    "heat",
    "flow of heat",
    "the boundary layer",
    "heat heat heat transfer",
    "wing and shock pressure",
    "of the",
    "unheard heat",
    "layers in a flow",
]


def texts():
    """Documents of many lengths, some without a title."""
    rng = random.Random(5)
    documents = []
    for k in range(60):
        size = rng.choice([3, 8, 20, 45, 90, 400])
        words = [rng.choice(WORDS[: 4 + k % 8]) if rng.random() < 0.7 else rng.choice(STOP) for _ in range(size)]
        title = " ".join(rng.choice(WORDS + STOP) for _ in range(k % 6))
        documents.append({"id": f"d{k}", "title": title, "text": " ".join(words)})
    return documents


def main(jar):
    import jpype

    jpype.startJVM(classpath=[jar])
    J = jpype.JClass
    builder = J("org.apache.lucene.analysis.custom.CustomAnalyzer").builder()
    builder.withTokenizer("standard")
    for name, args in [("lowercase", []), ("stop", []), ("snowballPorter", ["language", "English"])]:
        builder.addTokenFilter(name, jpype.JArray(jpype.JString)(args))
    analyser = builder.build()
    folder = J("org.apache.lucene.store.ByteBuffersDirectory")()
    config = J("org.apache.lucene.index.IndexWriterConfig")(analyser)
    writer = J("org.apache.lucene.index.IndexWriter")(folder, config)
    field, stored = J("org.apache.lucene.document.TextField"), J("org.apache.lucene.document.Field")
    documents = texts()
    for document in documents:
        made = J("org.apache.lucene.document.Document")()
        for name in ("title", "text"):
            if document[name]:
                made.add(field(name, document[name], stored.Store.NO))
        writer.addDocument(made)
    writer.forceMerge(1)
    writer.close()
    reader = J("org.apache.lucene.index.DirectoryReader").open(folder)
    searcher = J("org.apache.lucene.search.IndexSearcher")(reader)
    queries = J("org.apache.lucene.util.QueryBuilder")(analyser)

    def scores(query):
        values = [0.0] * len(documents)
        if query is not None:
            for hit in searcher.search(query, len(documents)).scoreDocs:
                values[int(hit.doc)] = float(str(hit.score))
        return values

    lengths = J("org.apache.lucene.util.SmallFloat")
    tried = [*range(300), 1000, 4095, 4096, 65535, 10**6, 2**31 - 1]
    rows = [
        {
            "query": text,
            "field": name,
            "bm25": scores(queries.createBooleanQuery(name, text)),
            "phrase": scores(queries.createPhraseQuery(name, text)),
        }
        for text in QUERIES
        for name in ("title", "text")
    ]
    golden = {
        "lucene": str(J("org.apache.lucene.util.Version").LATEST.toString()),
        "lengths": [[n, int(lengths.byte4ToInt(lengths.intToByte4(n)))] for n in tried],
        "documents": documents,
        "scores": rows,
    }
    Path(__file__).with_name("lucene.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
