"""Makes the numbers of judgments.json: Dawid–Skene and majority of crowd-kit on random votes.

    python -m venv other && other/bin/pip install crowd-kit==1.4.2 && other/bin/python tests/golden/make_judgments.py

crowd-kit needs transformers and torch, so it is no extra of ours. Its Dawid–Skene starts from the shares of votes, with
no smoothing, like ours with smoothing=0.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

TARGET = Path(__file__).with_name("judgments.json")


def votes(seed: int) -> list[tuple[int, int, int]]:
    """(item, judge, grade) of random votes: 4 judges of unequal quality, 3 grades, some votes missing."""
    rng = np.random.default_rng(seed)
    found = []
    for item in range(40):
        truth = int(rng.integers(3))
        for judge, right in enumerate((0.9, 0.75, 0.6, 0.4)):
            grade = truth if rng.random() < right else int(rng.integers(3))
            if rng.random() < 0.85:
                found.append((item, judge, grade))
    return found


def main() -> None:
    from crowdkit.aggregation import DawidSkene, MajorityVote

    cases = []
    for seed in range(5):
        rows = votes(seed)
        frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
        model = DawidSkene(n_iter=1000, tol=0.0).fit(frame)
        shares = MajorityVote().fit(frame).probas_
        cases.append(
            {
                "votes": rows,
                "posterior": model.probas_.sort_index().sort_index(axis=1).round(10).to_numpy().tolist(),
                "prior": model.priors_.sort_index().round(10).tolist(),
                "shares": shares.sort_index().sort_index(axis=1).round(10).to_numpy().tolist(),
            }
        )
    TARGET.write_text(json.dumps(cases) + "\n")


if __name__ == "__main__":
    main()
