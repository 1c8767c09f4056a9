"""How long Ranking SVM takes to train to its tolerance, from ten thousand to a million documents.

    python benchmarks/ranking_svm.py [--documents 1000000] [--features 46]

Synthetic data like LETOR's, about 100 documents per query. Linear: squared hinge on all pairs, truncated Newton until
the gradient is 1e-4 of what it was. Times are wall-clock seconds of the fit, z-scores included; `peak` is the memory of
the process. The exact kernel of all documents is asked for at the end, to see it refused.
"""

from __future__ import annotations

import argparse
import resource
import time

from podium.data.synthetic import make_letor_like
from podium.errors import IncompatibleError
from podium.training import train

KERNEL = "ranking-svm-kernel(transform=nystrom(components=none))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=46)
    asked = parser.parse_args()
    train(make_letor_like(20)[0], "ranking-svm")  # compiles
    print(f"{'documents':>10} {'seconds':>8} {'steps':>6} {'objective':>10} {'peak GB':>8}  stopped")
    n = asked.documents
    for documents in (n // 100, n // 10, n):
        data, _ = make_letor_like(documents // 100, (80, 120), n_features=asked.features, seed=1)
        start = time.perf_counter()
        model = train(data, "ranking-svm")
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        info = model.info
        print(
            f"{data.n_documents:>10} {seconds:>8.1f} {info['iterations']:>6} {info['objective']:>10.4f} {peak:>8.1f}  "
            f"{info['stopped']}"
        )
    try:
        train(data, KERNEL)
    except IncompatibleError as refused:
        print(f"exact kernel: {refused}")


if __name__ == "__main__":
    main()
