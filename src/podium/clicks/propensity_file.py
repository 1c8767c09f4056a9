"""Propensities: the examination probability of each rank, relative to rank 1, with 95 % intervals, and their JSON file.

    >>> curve = Propensities.of_theta([1.0, 0.5, 0.25], how="given")
    >>> curve.at([1, 3, 7])[0].tolist()  # rank 7 has none
    [1.0, 0.25, nan]

A click on a relevant document at rank k has probability α_k + β_k, on another one β_k. Without trust bias α_k = θ_k,
the examination of the rank, and β_k = 0; with it, α_k = θ_k(ε⁺_k − ε⁻_k) and β_k = θ_k ε⁻_k, with ε⁺ and ε⁻ the
probabilities of a click on an examined document, relevant or not (Agarwal et al., Addressing trust bias for unbiased
learning-to-rank, WWW 2019). `podium.propensities` estimates them from a log.

The file is JSON: {"how": "harvest", "ranks": [1, 2], "theta": [1.0, 0.5], "low": …, "high": …, "alpha": …, "beta": …}.
A file with ranks and theta alone is enough; unknown numbers are null. If the estimator resamples clicks, the file also
has "log", the fingerprint of the log that they are from, "alpha_draws", and with trust bias "beta_draws": bootstrap
draws of them; see `podium.clicks.wild_bootstrap`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import AnyArray, Array, Ints
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name, write_aside
from podium.clicks.log.click_log import LONGEST, ClickLog

DRAWS = 192
"""Number of draws in a file: enough for a standard error to be right to some 5 %."""

_NUMBERS = ("theta", "low", "high", "alpha", "beta")
_DRAWS = ("alpha_draws", "beta_draws")
_LARGEST = 10_000_000  # bytes of a file; a thousand ranks with draws of alpha and beta take half of it


@dataclass(frozen=True, eq=False)
class Propensities:
    """Propensity of each rank; arrays cannot be written to."""

    ranks: Ints  # (K,) from 1, ascending
    theta: Array  # (K,) examination relative to rank 1; a ratio above 1 can occur
    low: Array  # (K,) of the 95 % interval of theta; NaN: not known
    high: Array  # (K,) of the same interval
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
        """Propensities without trust bias, by default of ranks 1, 2, …

        `theta`: examination probability of each rank, relative to rank 1 (K,).
        `how`: the estimator, or another word about where they are from.
        `ranks`: the ranks, from 1, ascending (K,); None: 1, 2, …
        `low`: lower ends of 95 % intervals of `theta`; None: unknown.
        `high`: upper ends; None: unknown.
        """
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
        """α and β of the given ranks; NaN for a rank without a propensity.

        `ranks`: ranks from 1, in any order.
        """
        asked = np.asarray(ranks, np.int64)
        place = np.searchsorted(self.ranks, asked)
        there = np.append(self.ranks, -1)[place] == asked
        return (
            np.where(there, np.append(self.alpha, np.nan)[place], np.nan),
            np.where(there, np.append(self.beta, np.nan)[place], np.nan),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts for JSON, without the draws; unknown numbers are None."""
        fields: dict[str, Any] = {"how": self.how, "ranks": self.ranks.tolist()}
        for name in _NUMBERS:
            fields[name] = [value if np.isfinite(value) else None for value in getattr(self, name).tolist()]
        return fields

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file; an existing one is replaced as a whole.

        `path`: the file to write.
        """
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
            raise DataError("beta_draws need alpha_draws.", where=where)
        shapes = [draws.shape for draws in (self.alpha_draws, self.beta_draws) if draws is not None]
        if any(shape != (DRAWS, len(self.ranks)) for shape in shapes):
            raise DataError(f"draws must be {DRAWS} lists of {len(self.ranks)} numbers.", where=where)


def check_propensities(value: object) -> None:
    """Raise a clear error for a value that is not Propensities."""
    if not isinstance(value, Propensities):
        raise DataError(
            f"expected Propensities; got {type(value).__name__}. Read a file with read_propensities, or give numbers "
            "for ranks 1, 2, … by Propensities.of_theta."
        )


def read_propensities(source: Source) -> Propensities:
    """Read a file of propensities. Files from untrusted sources are safe: they hold numbers and a name.

    `source`: a path, or an open file.
    """
    where = source_name(source)
    with reading(source) as file:
        raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise DataError(f"a file of propensities has at most {_LARGEST} bytes.", where=where)
    try:
        fields = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"is no JSON ({error}). A file of propensities is what podium clicks propensity -o writes.", where=where
        ) from None
    try:
        return _from_dict(fields, where)
    except DataError as error:
        raise error if error.where else DataError(str(error), where=where) from None


def click_rates(log: ClickLog, ranks: ArrayLike) -> Array:
    """Click rates of the given ranks, relative to rank 1: examination and relevance together; NaN if unknown."""
    asked = np.asarray(ranks, np.int64)
    rank, times = log.ranks().astype(np.int64), np.repeat(log.page_counts, log.sizes)
    size = int(max(asked.max(initial=1), rank.max(initial=1))) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.bincount(rank, times * log.clicks, minlength=size) / np.bincount(rank, times, minlength=size)
        relative = rate[asked] / rate[1]
    return np.where(np.isfinite(relative), relative, np.nan)


def _from_dict(fields: object, where: str) -> Propensities:
    allowed = {"how", "ranks", "log", *_NUMBERS, *_DRAWS}
    if not isinstance(fields, dict) or not {"ranks", "theta"} <= fields.keys():
        raise DataError("propensities are a JSON object with at least ranks and theta.", where=where)
    unknown = sorted(fields.keys() - allowed)
    if unknown:
        raise DataError(f"no field {unknown[0]!r}. Known: {', '.join(sorted(allowed))}.", where=where)
    how = fields.get("how", "given")
    if not isinstance(how, str):
        raise DataError(f"how must be text; got {how!r}.", where=where)
    ranks = fields["ranks"]
    if not isinstance(ranks, list) or any(type(k) is not int or not 0 < k <= LONGEST for k in ranks):
        raise DataError(f"ranks must be a list of whole numbers from 1 to {LONGEST}.", where=where)
    columns = {name: _column(fields[name], name, len(ranks), where) for name in _NUMBERS if name in fields}
    theta = columns["theta"]
    rest = {"low": np.full(len(ranks), np.nan), "high": np.full(len(ranks), np.nan)}
    rest |= {"alpha": theta, "beta": np.zeros(len(ranks))}
    digest = fields.get("log")
    if digest is not None and not isinstance(digest, str):
        raise DataError(f"log must be text; got {digest!r}.", where=where)
    draws = {name: _draws(fields[name], name, len(ranks), where) for name in _DRAWS if name in fields}
    return Propensities(np.array(ranks, np.int64), how=how, log=digest, **(rest | columns | draws))


def _draws(rows: object, name: str, n: int, where: str) -> Array:
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


def _read_only(values: ArrayLike, kind: type[np.generic]) -> AnyArray:
    copy = np.array(values, kind)
    copy.setflags(write=False)
    return copy
