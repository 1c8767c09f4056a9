"""Definition search from a folder of texts: find definitions, rank them by a learned model, and look a term up.

    podium index texts -o texts.index
    python examples/definition_search.py train -o definitions.podium [paragraphs.jsonl]
    python examples/definition_search.py find texts.index definitions.podium -o definitions.json
    python examples/definition_search.py show definitions.json --term 'learning to rank'

train  Ranking SVM on judged paragraphs, synthetic by default: see definitions.py
find   candidates: what begins with a sentence "X is a", "X is the" or "X, a", to the end of its paragraph; ranked for
       each X by the model; copies (Jaccard of words above 0.8 with a better one) are dropped
show   the definitions of a term from the store, a JSON file; without a term, all terms
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
from collections.abc import Iterator, Sequence

import numpy as np
from definitions import Paragraph, common_words, dataset, make_paragraphs, read_paragraphs

from podium.base.files import writing
from podium.data import hold_out
from podium.model import Model
from podium.text import Analyser, Index
from podium.text.snippets import sentences
from podium.text.stop_words import stop_words
from podium.training import train

ALIKE = 0.8
START = re.compile(
    r"(?:(?:the|an?)\s+)?(?P<term>[\w'’-]+(?:\s+[\w'’-]+){0,3}?)(?:\s+(?:is|are)\s+(?:an?|the)\s|,\s+an?\s)",
    re.IGNORECASE,
)
Store = dict[str, list[dict[str, str | float]]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    learn = commands.add_parser("train", help="learn to rank definitions")
    learn.add_argument("file", nargs="?", help="JSON lines of term, text and grade; by default synthetic")
    learn.add_argument("-o", "--output", default="definitions.podium")
    learn.add_argument("--size", type=int, default=150, help="number of synthetic terms")
    find = commands.add_parser("find", help="find and rank definitions in an index")
    find.add_argument("index", help="an index of podium index")
    find.add_argument("model", help="the model of train")
    find.add_argument("-o", "--output", default="definitions.json")
    show = commands.add_parser("show", help="print the definitions of a term")
    show.add_argument("store", help="the file of find")
    show.add_argument("--term", help="the term; without it, all terms are listed")
    options = parser.parse_args(arguments)
    if options.command == "train":
        learn_model(options.file, options.output, size=options.size)
    elif options.command == "find":
        find_definitions(options.index, options.model, options.output)
    else:
        print_definitions(options.store, options.term)


def learn_model(file: str | None, output: str, *, size: int) -> None:
    """Train on judged paragraphs; the model keeps the words that it has as features."""
    paragraphs = read_paragraphs(file) if file else make_paragraphs(size)
    idf = common_words(paragraphs)
    training, valid = hold_out(dataset(paragraphs, idf), 0.2)
    model = train(training, "ranking-svm", valid=valid)
    model.with_info(idf=idf).save(output)
    print(
        f"{output}: {training.n_queries} terms, {model.info['metric']} {model.info['valid']:.4f} on {valid.n_queries}"
    )


def find_definitions(index: str, model: str, output: str) -> None:
    """Write the ranked definitions of every term of an index."""
    documents = [
        (document["id"], candidate)
        for document in Index.open(index).store.documents()
        for candidate in candidates(str(document.get("text") or ""))
    ]
    if not documents:
        raise SystemExit(f'{index}: no sentence begins with "X is a", "X is the" or "X, a".')
    fitted = Model.load(model)
    data = dataset([candidate for _, candidate in documents], fitted.info["idf"])
    scores = fitted.score(data)
    rows = np.arange(len(documents)) if data.rows is None else data.rows
    by_term: Store = {}
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        name, candidate = documents[row]
        by_term.setdefault(candidate.term, []).append({"score": score, "document": name, "text": candidate.text})
    store = {term: without_copies(by_term[term]) for term in sorted(by_term)}
    with writing(output) as file:
        file.write(json.dumps(store, ensure_ascii=False, indent=1).encode())
    kept = sum(map(len, store.values()))
    print(f"{output}: {len(store)} terms, {kept} definitions; near copies dropped: {len(documents) - kept}")


def candidates(text: str) -> Iterator[Paragraph]:
    """What may define a term: a sentence of such a form, with what follows it in its paragraph."""
    small = stop_words("english")
    for block in re.split(r"\n\s*\n", text):
        parts = sentences(block)
        for k, sentence in enumerate(parts):
            start = START.match(sentence)
            words = start["term"].lower().split() if start else [""]
            if start and not {words[0], words[-1]} & (small | {"however", "thus"}):
                yield Paragraph(" ".join(words), " ".join(parts[k:]), 0.0)


def without_copies(definitions: list[dict[str, str | float]]) -> list[dict[str, str | float]]:
    """The definitions from the best, without those that share more than 0.8 of their words with a better one."""
    analyser, kept, bags = Analyser(), list[dict[str, str | float]](), list[set[str]]()
    for definition in sorted(definitions, key=lambda one: -float(one["score"])):
        bag = set(analyser.words(str(definition["text"])))
        if all(len(bag & other) <= ALIKE * len(bag | other) for other in bags):
            kept.append(definition)
            bags.append(bag)
    return kept


def print_definitions(path: str, term: str | None) -> None:
    """Print the definitions of a term from the best, or all terms with their number."""
    with open(path, encoding="utf-8") as file:
        store: Store = json.load(file)
    if term is None:
        for name, definitions in store.items():
            print(f"{len(definitions):>3}  {name}")
        return
    name = " ".join(term.lower().split())
    if name not in store:
        near = difflib.get_close_matches(name, store, n=3)
        raise SystemExit(f"{path}: no definition of {term!r}{', but of ' + ', '.join(near) if near else ''}.")
    for rank, definition in enumerate(store[name], 1):
        print(f"{rank}  {float(definition['score']):.4f}  {definition['document']}  {definition['text']}")


if __name__ == "__main__":
    main()
