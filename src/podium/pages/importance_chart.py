"""HTML report on feature importance: a bar for each feature."""

from __future__ import annotations

from collections.abc import Mapping

from podium.pages.kit import named_bars, paragraph, static_page, table

_MOST = 50
"""Largest number of bars."""


def page(shares: Mapping[str, float], *, how: str, model: str) -> str:
    """HTML report on features' shares, the largest first."""
    top = dict(list(shares.items())[:_MOST])
    cut = [f"The {_MOST} largest of {len(shares)}."] if len(top) < len(shares) else []
    note = paragraph(" ".join([f"{how[0].upper()}{how[1:]}, as a share of all features.", *cut]), note=True)
    chart = named_bars(top, label=f"Feature importance; the largest is {next(iter(top), 'none')}", x_name="share")
    rows = [[name, f"{share:.4f}"] for name, share in shares.items()]
    numbers = table(["feature", "share"], rows, label="Feature importance")
    return static_page("Feature importance", model, {"Features that matter": note + chart, "Numbers": numbers})
