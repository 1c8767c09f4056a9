"""Agreement and consensus are those of krippendorff and crowd-kit on random votes.

The extra `peers` installs krippendorff. crowd-kit needs torch and transformers, so its numbers are in tests/golden.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from podium.data.agreement import krippendorff as alpha
from podium.data.consensus import consensus
from podium.data.dawid_skene import dawid_skene
from podium.data.judgments import Judgments

GOLDEN = Path(__file__).parents[1] / "golden" / "judgments.json"


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_krippendorff(level: str) -> None:
    tool = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(0)
    for _ in range(50):
        judges, items, grades = rng.integers(2, 6), rng.integers(4, 15), rng.integers(2, 6)
        votes = rng.integers(0, grades, (judges, items)).astype(float)
        votes[rng.random(votes.shape) < 0.2] = np.nan
        pairable = votes[:, np.sum(~np.isnan(votes), axis=0) > 1]
        if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
            continue  # nothing to disagree about
        judge, item = np.nonzero(~np.isnan(votes))
        ours = Judgments.from_rows(["q"] * len(item), item.tolist(), judge.tolist(), votes[judge, item])
        theirs = tool.alpha(reliability_data=votes, level_of_measurement=level)
        assert alpha(ours, level=level, draws=1).value == pytest.approx(theirs, abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text()))
def test_crowd_kit(case: dict[str, list[list[float]]]) -> None:
    item, judge, grade = zip(*case["votes"], strict=True)
    ours = Judgments.from_rows(["q"] * len(item), item, judge, grade)
    order = np.argsort([int(name) for name in ours.document_ids])
    assert consensus(ours).probabilities[order] == pytest.approx(np.array(case["shares"]), abs=1e-9)
    found = dawid_skene(ours, smoothing=0.0, tolerance=1e-12)
    assert found.posterior[order] == pytest.approx(np.array(case["posterior"]), abs=1e-4)
    assert found.prior == pytest.approx(np.array(case["prior"]), abs=1e-4)
