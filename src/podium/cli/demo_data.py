"""Synthetic data of the demos: train, vali and test files with a planted truth."""

from __future__ import annotations

from pathlib import Path


def make_data(folder: Path, seed: int) -> dict[str, float]:
    """Write train, vali and test files. Returns the planted utility of each document."""
    from podium.data import make_letor_like, split
    from podium.formats import write_letor

    data, utility = make_letor_like(200, (20, 60), n_features=24, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in zip(("train", "vali", "test"), split(data, (0.6, 0.2, 0.2), seed=seed), strict=True):
        write_letor(part, folder / f"{name}.txt")
    assert data.document_ids is not None
    return dict(zip(data.document_ids.tolist(), utility.tolist(), strict=True))
