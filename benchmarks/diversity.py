"""Re-rankers on planted topics: α-nDCG@20 and ERR-IA@20 of relevance alone, mmr, xquad and pm2.

    python -m benchmarks.diversity [--seeds 8]

Each seed has 50 queries of 100 documents and 3 to 7 topics, of which the first is wanted most and has most documents.
The scores of the ranker are the number of a document's topics, weighted by how much they are wanted, with noise. Topics
are known to xquad and pm2 as probabilities P(d|t) with errors. mmr sees features alone: either features that say
nothing about topics, as most ranking features do, or vectors near the mean of the document's topics, as embeddings of
texts. Printed are means over seeds with their 95 % intervals. It takes about a minute.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from scipy.stats import t

from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.evaluation.evaluate import evaluate
from podium.rerankers import Reranker

QUERIES, DOCUMENTS = 50, 100
METRICS = ("alpha-ndcg@20", "err-ia(model=novelty)@20")
RERANKERS = {
    "relevance alone": (None, "features"),
    "mmr, ranking features": ("mmr", "features"),
    "mmr, text vectors": ("mmr", "vectors"),
    "xquad(trade=0.5)": ("xquad(trade=0.5)", "features"),
    "xquad(trade=0.9)": ("xquad(trade=0.9)", "features"),
    "pm2": ("pm2", "features"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    seeds = parser.parse_args().seeds
    values = np.array([measured(seed) for seed in range(seeds)])  # (seeds, rerankers, metrics)
    half = t.ppf(0.975, seeds - 1) * values.std(axis=0, ddof=1) / np.sqrt(seeds)
    print(f"{'':24}" + "".join(f"{metric:>26}" for metric in METRICS))
    for r, name in enumerate(RERANKERS):
        cells = [f"{m:.4f} ± {h:.4f}" for m, h in zip(values.mean(axis=0)[r], half[r], strict=True)]
        print(f"{name:24}" + "".join(f"{cell:>26}" for cell in cells))
    gains = values[:, 1:, 0] - values[:, :1, 0]
    error = t.ppf(0.975, seeds - 1) * gains.std(axis=0, ddof=1) / np.sqrt(seeds)
    for name, gain, half_width in zip(list(RERANKERS)[1:], gains.mean(axis=0), error, strict=True):
        print(f"{name}: {gain:+.4f} ± {half_width:.4f} α-nDCG@20 over relevance alone")


def measured(seed: int) -> list[list[float]]:
    """The metrics of each re-ranker on the data of a seed."""
    data, vectors, noisy, scores = planted(np.random.default_rng(seed))
    rows = []
    for name, sees in RERANKERS.values():
        seen = replace(data, topics=noisy, features=vectors if sees == "vectors" else data.features)
        ranked = scores if name is None else Reranker.parse(name).scores(scores, seen)
        rows.append([average.value for average in evaluate(data, ranked, METRICS).means().values()])
    return rows


def planted(rng: np.random.Generator) -> tuple[Dataset, np.ndarray, Triples, np.ndarray]:
    """Data with its true topics, vectors of its documents, noisy topics and scores of a ranker."""
    true, noisy, scores, vectors = [], [], [], []
    for _ in range(QUERIES):
        many = int(rng.integers(3, 8))
        wanted = 1.0 / np.arange(1, many + 1)
        has = rng.random((DOCUMENTS, many)) < 0.25 * wanted
        belief = np.clip(0.6 * has + rng.normal(0.2, 0.15, has.shape), 0.0, 0.95)
        means = rng.normal(size=(many, 16))
        true.append([[d, topic, 1.0] for d, topic in np.argwhere(has)])
        noisy.append([[d, topic, belief[d, topic]] for d, topic in np.ndindex(*has.shape)])
        scores.append(has @ wanted + rng.normal(0, 0.3, DOCUMENTS))
        vectors.append(has @ means + rng.normal(0, 1.0, (DOCUMENTS, 16)))
    features = rng.normal(size=(QUERIES * DOCUMENTS, 16))
    data = Dataset.from_arrays(features, qid=np.repeat(np.arange(QUERIES), DOCUMENTS))
    both = replace(data, topics=Triples.from_rows(true))
    return both, np.concatenate(vectors).astype(np.float32), Triples.from_rows(noisy), np.concatenate(scores)


if __name__ == "__main__":
    main()
