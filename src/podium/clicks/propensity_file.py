"""Propensities: how likely each rank is to be looked at, relative to rank 1, with 95 % intervals.

    >>> curve = Propensities.of_theta([1.0, 0.5, 0.25], how="given")
    >>> curve.at([1, 3, 7])[0].tolist()  # rank 7 is not known
    [1.0, 0.25, nan]

A click on a relevant document at rank k has probability α_k + β_k, on another one β_k. Without trust bias α_k = θ_k,
the examination of the rank, and β_k = 0; with it, α_k = θ_k(ε⁺_k − ε⁻_k) and β_k = θ_k ε⁻_k, where ε⁺ and ε⁻ are the
probabilities that a relevant and another document that is looked at is clicked (Agarwal et al., Addressing trust bias
for unbiased learning-to-rank, WWW 2019). `podium.propensities` estimates them from a log.

The file is JSON: {"how": "harvest", "ranks": [1, 2], "theta": [1.0, 0.5], "low": …, "high": …, "alpha": …, "beta": …}.
A file with ranks and theta alone is enough; what is not known is null. Where the estimator says how sure it is, the
file also has "log", the fingerprint of the log that they are from, and "alpha_draws", and with trust bias "beta_draws":
lists of what else they might be; see `podium.clicks.wild_bootstrap`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name, write_aside
from podium.clicks.log.click_log import LONGEST, ClickLog

DRAWS = 192
"""How many draws a file has: enough for a standard error to be right to some 5 %."""

_NUMBERS = ("theta", "low", "high", "alpha", "beta")
_DRAWS = ("alpha_draws", "beta_draws")
_LARGEST = 10_000_000  # bytes of a file; a thousand ranks with draws of alpha and beta take half of it


@dataclass(frozen=True, eq=False)
class Propensities:
    """What is known of each rank. Arrays cannot be written to."""

    ranks: NDArray[np.int64]  # (K,) from 1, ascending
    theta: Array  # (K,) examination relative to rank 1; a ratio above 1 can occur
    low: Array  # (K,) of the 95 % interval of theta; NaN: not known
    high: Array  # (K,)
    alpha: Array  # (K,) P(click | relevant) − P(click | not relevant); theta without trust bias
    beta: Array  # (K,) P(click | not relevant); 0 without trust bias
    how: str  # the estimator
    log: str | None = None  # the fingerprint of the log that they were estimated from
    alpha_draws: Array | None = None  # (B, K) α as it would be with other clicks; None: taken as known
    beta_draws: Array | None = None  # (B, K) β likewise; None: taken as known

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranks", _read_only(self.ranks, np.int64))
        for name in (*_NUMBERS, *_DRAWS):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _read_only(getattr(self, name), np.float64))
        self._check()

    @classmethod
    def of_theta(
        cls,
        theta: ArrayLike,
        *,
        how: str,
        ranks: ArrayLike | None = None,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
    ) -> Propensities:
        """Examination without trust bias, of ranks 1, 2, … unless told."""
        values = np.asarray(theta, np.float64)
        unknown = np.full(len(values), np.nan)
        return cls(
            np.arange(1, len(values) + 1) if ranks is None else np.asarray(ranks),
            values,
            unknown if low is None else np.asarray(low),
            unknown if high is None else np.asarray(high),
            values,
            np.zeros(len(values)),
            how,
        )

    def __repr__(self) -> str:
        return f"Propensities({self.how}: {len(self.ranks)} ranks)"

    @property
    def has_trust_bias(self) -> bool:
        return bool((self.beta != 0).any() or (self.alpha != self.theta).any())

    def at(self, ranks: ArrayLike) -> tuple[Array, Array]:
        """α and β of some ranks; NaN where a rank is not known."""
        asked = np.asarray(ranks, np.int64)
        place = np.searchsorted(self.ranks, asked)
        known = np.append(self.ranks, -1)[place] == asked
        return (
            np.where(known, np.append(self.alpha, np.nan)[place], np.nan),
            np.where(known, np.append(self.beta, np.nan)[place], np.nan),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the draws as plain numbers and texts; what is not known is None."""
        made: dict[str, Any] = {"how": self.how, "ranks": self.ranks.tolist()}
        for name in _NUMBERS:
            made[name] = [value if np.isfinite(value) else None for value in getattr(self, name).tolist()]
        return made

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write them to a JSON file, which replaces an older one as a whole."""
        fields = self.to_dict()
        if self.alpha_draws is not None:
            fields["log"] = self.log
        for name in _DRAWS:
            if (draws := getattr(self, name)) is not None:
                fields[name] = [[float(f"{value:.7g}") for value in row] for row in draws.tolist()]
        lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items())
        with write_aside(path) as file:
            file.write(f"{{\n{lines}\n}}\n".encode())

    def _check(self, where: str | None = None) -> None:
        """Raise a clear error if the numbers cannot be propensities."""
        n = len(self.ranks)
        for name in _NUMBERS:
            if getattr(self, name).shape != (n,):
                raise DataError(f"{name} has shape {getattr(self, name).shape} for {n} ranks.", where=where)
        if n == 0:
            raise DataError("there are no ranks.", where=where)
        self._check_draws(where)
        if self.ranks[0] < 1 or self.ranks[-1] > LONGEST or (np.diff(self.ranks) <= 0).any():
            raise DataError(f"ranks must rise, from 1 to at most {LONGEST}; got {self.ranks[:10]}.", where=where)
        for name in ("theta", "alpha", "beta"):
            values = getattr(self, name)
            bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
            if len(bad):
                raise DataError(
                    f"{name} of rank {self.ranks[bad[0]]} must be a number of at least 0; got {values[bad[0]]}.",
                    where=where,
                )
        if not (self.alpha > 0).any():
            raise DataError("alpha is 0 at every rank, so clicks say nothing.", where=where)
        wrong = np.flatnonzero((self.low > self.theta) | (self.theta > self.high))
        if len(wrong):
            k = wrong[0]
            raise DataError(
                f"theta of rank {self.ranks[k]}, {self.theta[k]:g}, is outside its interval, {self.low[k]:g} to "
                f"{self.high[k]:g}.",
                where=where,
            )

    def _check_draws(self, where: str | None) -> None:
        if self.beta_draws is not None and self.alpha_draws is None:
            raise DataError("beta_draws need alpha_draws beside them.", where=where)
        shapes = [draws.shape for draws in (self.alpha_draws, self.beta_draws) if draws is not None]
        if any(shape != (DRAWS, len(self.ranks)) for shape in shapes):
            raise DataError(f"draws must be {DRAWS} lists of {len(self.ranks)} numbers.", where=where)


def check_propensities(given: Any) -> None:
    """Raise a clear error for what is not Propensities."""
    if not isinstance(given, Propensities):
        raise DataError(
            f"expected Propensities; got {type(given).__name__}. Read a file with read_propensities, or give numbers "
            "for ranks 1, 2, … by Propensities.of_theta."
        )


def read_propensities(source: Source) -> Propensities:
    """Read a file of propensities. Opening one from strangers is safe: it holds numbers and a name."""
    where = source_name(source)
    with reading(source) as file:
        raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise DataError(f"a file of propensities has at most {_LARGEST} bytes.", where=where)
    try:
        found = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"is no JSON ({error}). A file of propensities is what podium clicks propensity -o writes.", where=where
        ) from None
    try:
        return _from_dict(found, where)
    except DataError as error:
        raise error if error.where else DataError(str(error), where=where) from None


def click_rates(log: ClickLog, ranks: ArrayLike) -> Array:
    """Clicks per impression of some ranks, relative to rank 1: examination and relevance together; NaN if unknown."""
    asked = np.asarray(ranks, np.int64)
    rank, times = log.ranks().astype(np.int64), np.repeat(log.page_counts, log.sizes)
    size = int(max(asked.max(initial=1), rank.max(initial=1))) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.bincount(rank, times * log.clicks, minlength=size) / np.bincount(rank, times, minlength=size)
        relative = rate[asked] / rate[1]
    return np.where(np.isfinite(relative), relative, np.nan)


def _from_dict(found: Any, where: str) -> Propensities:
    known = {"how", "ranks", "log", *_NUMBERS, *_DRAWS}
    if not isinstance(found, dict) or not {"ranks", "theta"} <= found.keys():
        raise DataError("propensities are a JSON object with at least ranks and theta.", where=where)
    unknown = sorted(found.keys() - known)
    if unknown:
        raise DataError(f"no field {unknown[0]!r}. Known: {', '.join(sorted(known))}.", where=where)
    how = found.get("how", "given")
    if not isinstance(how, str):
        raise DataError(f"how must be text; got {how!r}.", where=where)
    ranks = found["ranks"]
    if not isinstance(ranks, list) or any(type(k) is not int or not 0 < k <= LONGEST for k in ranks):
        raise DataError(f"ranks must be a list of whole numbers from 1 to {LONGEST}.", where=where)
    columns = {name: _column(found[name], name, len(ranks), where) for name in _NUMBERS if name in found}
    theta = columns["theta"]
    rest = {"low": np.full(len(ranks), np.nan), "high": np.full(len(ranks), np.nan)}
    rest |= {"alpha": theta, "beta": np.zeros(len(ranks))}
    digest = found.get("log")
    if digest is not None and not isinstance(digest, str):
        raise DataError(f"log must be text; got {digest!r}.", where=where)
    draws = {name: _draws(found[name], name, len(ranks), where) for name in _DRAWS if name in found}
    return Propensities(np.array(ranks, np.int64), how=how, log=digest, **(rest | columns | draws))


def _draws(rows: Any, name: str, n: int, where: str) -> Array:
    if not isinstance(rows, list) or len(rows) != DRAWS:
        raise DataError(f"{name} must be {DRAWS} lists of {n} numbers.", where=where)
    return np.array([_column(row, name, n, where) for row in rows])


def _column(values: Any, name: str, n: int, where: str) -> Array:
    may_miss = name in ("low", "high")
    fits = isinstance(values, list) and all(
        (value is None and may_miss) or (type(value) in (int, float) and abs(value) < 1e300) for value in values
    )
    if not fits or len(values) != n:
        raise DataError(f"{name} must be a list of {n} numbers, one for each rank.", where=where)
    return np.array([np.nan if value is None else float(value) for value in values], np.float64)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _read_only(values: ArrayLike, kind: Any) -> NDArray[Any]:
    made = np.array(values, kind)
    made.setflags(write=False)
    return made
