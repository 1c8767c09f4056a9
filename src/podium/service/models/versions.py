"""Model versions: add, swap and delete models of the model store while requests are answered.

A `ModelStore` is immutable. A request takes it once and keeps it; a swap creates another one and assigns it to one
attribute, so that no request sees half of a change. Files of its folder:

    NAME/VERSION.podium     a version never changes
    aliases.json            {"changes": 7, "highest": {"web": 4}, "aliases": {"default": {"model": "web@4", …}}}

Both are written aside and renamed. Every change rewrites aliases.json last, which is how other processes notice it
(`Models.follow`).
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import DataError, IncompatibleError, ParameterError, PodiumError, UnknownNameError
from podium.base.files import claimed, write_texts
from podium.data.dataset import Dataset
from podium.jit.sorting import top_k
from podium.model import Model
from podium.service.domain_errors import ConflictError, NotFoundError, RequestError, StaleError
from podium.service.models.model_store import Alias, Entry, ModelStore, check_name, is_name
from podium.service.models.model_store_folder import digest, is_version, keep, make_folder, remove_left_over
from podium.service.query_features import with_query_features
from podium.service.schemas import AliasAnswer, Comparison

if TYPE_CHECKING:
    from podium.engine import Engine
    from podium.text.index.index import Index

_WAIT = 60.0
"""Seconds to wait while another process changes the folder: it may be loading a large model."""
_KEPT = 50
"""Number of recent requests in memory, on which a new model is tried."""
_LONGEST = 500
"""Largest number of documents of such a request."""
_HELD = 32_000_000
"""Largest size in bytes of all of them."""


class Models:
    """The model store in use, `current`, and the operations that change it."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, index: Index | None = None) -> None:
        self.current = ModelStore(MappingProxyType({}), MappingProxyType({}))
        self.folder = None if folder is None else Path(folder).resolve()
        self.failed: dict[str, str] = {}
        """Files of the folder that could not be loaded, with the reason."""
        self._index = index
        self._seen: deque[tuple[Entry, Singles]] = deque(maxlen=_KEPT)
        self._highest: dict[str, int] = {}
        self._lock = threading.RLock()
        self._mark: tuple[int, ...] | None = None
        if self.folder is not None:
            make_folder(self.folder)
            with self._changing():
                remove_left_over(self.folder)
            self.reload()

    def remember(self, entry: Entry, X: Singles) -> None:
        """Keep the features of a request, in the order of the model's, to try other models on."""
        if 0 < len(X) <= _LONGEST and X.nbytes <= _HELD // _KEPT:
            self._seen.append((entry, X))

    def add_files(self, paths: Sequence[str | os.PathLike[str]]) -> list[Entry]:
        """Add model files, named after their files; another file of the same name is the next version."""
        entries = []
        for path in paths:
            name = Path(path).name.removesuffix(".podium").lower()
            if not is_name(name):
                raise ParameterError(
                    f"{path}: a model is called like its file, in letters, digits, '.', '_' and '-'; rename the file."
                )
            entries.append(self.put(name, path)[0])
        return entries

    def put(self, name: str, path: str | os.PathLike[str], *, version: int | None = None) -> tuple[Entry, bool]:
        """Load a model file, try it, and add it, by default as the next version of its name. Also: whether it is new.

        A file with the bytes of an existing version returns that version.
        """
        check_name(name)
        with self._changing():
            if self.folder is not None and self._unlisted(name):
                self.reload()
            sha256, size = digest(path)
            for entry in self.current.versions(name):
                if version in (None, entry.version) and entry.sha256 == sha256:
                    return entry, False
            last = self._highest.get(name, 0)
            if version is not None and version <= last:
                raise ConflictError(
                    f"{name}@{version} with these bytes is not there, and a version never changes. The next one is "
                    f"{name}@{last + 1}.",
                )
            number = version or last + 1
            entry = self._loaded(path, name, number, sha256, size)
            if self.folder is not None:
                keep(path, self._file(name, number))
            self._assign(entries={**self.current.entries, entry.key: entry})
            return entry, True

    def set_alias(self, alias: str, word: str, *, if_version: int | None = None) -> AliasAnswer:
        """Point an alias to a model, after trying it on the last requests; if it fails, the old one stays."""
        check_name(alias)
        with self._changing():
            store = self.current
            new, before = store.find(word), store.aliases.get(alias)
            version = before.version if before else 0
            if if_version not in (None, version):
                raise StaleError(
                    f"{alias} is at version {version}, not {if_version}: another caller changed it. Look at it again: "
                    "GET /v1/models.",
                )
            old = None if before is None else store.entries.get(before.model)
            tried = compare(old, new, list(self._seen))
            changed = Alias(new.key, 1 + version)
            self._assign(aliases={**store.aliases, alias: changed})
            return AliasAnswer(
                alias=alias, old=None if before is None else before.model, new=new.key, version=changed.version,
                tried=tried,
            )  # fmt: skip

    def delete(self, word: str) -> list[str]:
        """Delete all versions of a name, or one name@version."""
        with self._changing():
            version = self.current.entries.get(word)
            gone = [version] if version is not None else self.current.versions(word)
            if not gone:
                raise NotFoundError(str(UnknownNameError("model", word, self.current.entries, see="GET /v1/models")))
            for entry in gone:
                if self.current.aliases_of(entry):
                    raise ConflictError(
                        f"{entry.key} is in use as {', '.join(self.current.aliases_of(entry))}. Point that to another "
                        "model first: PUT /v1/aliases/…",
                    )
            names = [entry.key for entry in gone]
            for entry in gone if self.folder is not None else ():
                self._file(entry.name, entry.version).unlink(missing_ok=True)
            self._assign(entries={key: entry for key, entry in self.current.entries.items() if key not in names})
            return names

    def follow(self) -> bool:
        """Reload the folder if another process changed it; returns whether it did."""
        if self.folder is None or self._marked() == self._mark:
            return False
        self.reload()
        return True

    def reload(self) -> None:
        """Read the folder again. Files that cannot be loaded are left out, and listed in `failed`."""
        if self.folder is None:
            return
        with self._lock:
            mark, entries, self.failed = self._marked(), {}, {}
            highest = self._read_highest()
            for path in sorted(self.folder.glob("*/*.podium")):
                name, version = path.parent.name, path.stem
                if not is_name(name) or not is_version(version):
                    continue
                highest[name] = max(int(version), highest.get(name, 0))  # also of files that cannot be loaded
                loaded = self.current.entries.get(f"{name}@{int(version)}")
                try:
                    entry = loaded or self._loaded(path, name, int(version), *digest(path))
                except PodiumError as error:
                    self.failed[str(path)] = str(error)
                    continue
                entries[entry.key] = entry
            aliases = self._read_aliases()
            for name, alias in list(aliases.items()):
                before = self.current.aliases.get(name)
                if alias.model in entries:
                    continue
                if before is None or before.model not in self.current.entries:
                    del aliases[name]
                else:  # the model that was in use stays
                    aliases[name], entries[before.model] = before, self.current.entries[before.model]
            self._highest = highest
            self.current = ModelStore(MappingProxyType(entries), MappingProxyType(aliases))
            self._mark = mark

    def _loaded(self, path: str | os.PathLike[str], name: str, version: int, digest: str, size: int) -> Entry:
        entry = Entry(name, version, Model.load(path), digest, size)
        _ = entry.behaviour  # names of features that are none are refused here
        warm(entry.model)
        return replace(entry, engine=self._engine(entry.model))

    def _engine(self, model: Model) -> Engine | None:
        if self._index is None:
            return None
        from podium.engine import Engine
        from podium.service.search_ranker import reads_file

        try:
            engine = Engine(self._index, model)
        except IncompatibleError:  # a model of other features: it ranks the documents of requests only
            return None
        if reads_file(engine.retrieval):
            raise RequestError(
                f"its first stage, {engine.retrieval}, ranks by a model file; files of the service are not read. Train "
                "it on another first stage."
            )
        return engine

    def _unlisted(self, name: str) -> bool:
        """Whether the folder has versions that aliases.json does not list: their writer was killed."""
        assert self.folder is not None
        numbers = (int(path.stem) for path in (self.folder / name).glob("*.podium") if is_version(path.stem))
        return max(numbers, default=0) > self._highest.get(name, 0)

    def _file(self, name: str, version: int) -> Path:
        """Path of a version; never outside the folder."""
        assert self.folder is not None
        path = (self.folder / check_name(name) / f"{version}.podium").resolve()
        if not path.is_relative_to(self.folder):
            raise RequestError(f"{name} leads out of the folder of models.")
        return path

    def _assign(self, *, entries: dict[str, Entry] | None = None, aliases: dict[str, Alias] | None = None) -> None:
        """Swap the model store: write aliases.json, then assign once."""
        changed = ModelStore(
            self.current.entries if entries is None else MappingProxyType(entries),
            self.current.aliases if aliases is None else MappingProxyType(aliases),
        )
        self._highest = _highest(changed.entries, self._highest)
        if self.folder is not None:
            plain = {name: {"model": alias.model, "version": alias.version} for name, alias in changed.aliases.items()}
            changes = self._read().get("changes", 0)
            whole = {
                "changes": 1 + (changes if isinstance(changes, int) else 0),
                "highest": self._highest,
                "aliases": plain,
            }
            write_texts(self.folder, {"aliases.json": json.dumps(whole, indent=1)})
            self._mark = self._marked()
        self.current = changed

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Lock the folder for one change, after reloading the changes of other processes."""
        with self._lock:
            if self.folder is None:
                yield
                return
            with claimed(self.folder, wait=_WAIT):
                self.follow()
                yield

    def _marked(self) -> tuple[int, ...] | None:
        assert self.folder is not None
        try:
            about = (self.folder / "aliases.json").stat()
        except FileNotFoundError:
            return None
        return about.st_mtime_ns, about.st_ino, about.st_size

    def _read(self) -> dict[str, Any]:
        assert self.folder is not None
        path = self.folder / "aliases.json"
        try:
            values = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"not JSON ({error}). Restore it, or delete it and set aliases again.", where=str(path)
            ) from None
        return values if isinstance(values, dict) else {}

    def _read_highest(self) -> dict[str, int]:
        highest = self._read().get("highest", {})
        if not isinstance(highest, dict) or not all(isinstance(number, int) for number in highest.values()):
            raise DataError("aliases.json is damaged. Restore it, or delete it and set aliases again.")
        return highest

    def _read_aliases(self) -> dict[str, Alias]:
        aliases = self._read().get("aliases", {})
        try:
            return {str(name): Alias(str(alias["model"]), int(alias["version"])) for name, alias in aliases.items()}
        except (AttributeError, KeyError, TypeError, ValueError):
            raise DataError("aliases.json is damaged. Restore it, or delete it and set aliases again.") from None


def warm(model: Model) -> None:
    """Rank twice with a new model, so that no request waits for the compiler or a parser.

    A model that needs more than features, such as links between documents, is refused here.
    """
    zeros = replace(model.zeros(2), source="a request to the service")
    for _ in range(2):
        scores = model.score(zeros)
        try:
            model.distribution(zeros, scores=scores).summary()
        except IncompatibleError:  # a model without odds, which requests for odds will get as an error
            break


def compare(old: Entry | None, new: Entry, seen: Sequence[tuple[Entry, Singles]]) -> Comparison:
    """Try a new model on the last requests: its scores must be finite, and are compared with the old model's."""
    tried, taus, overlaps = 0, [], []
    for entry, X in seen if not new.model.query_columns else ():  # what is remembered has no query features
        if not set(new.feature_names) <= entry.columns.keys():
            continue
        scores, tried = scores_of(new, entry, X), tried + 1  # raises a clear error if one is not finite
        if old is not None and not old.model.query_columns and set(old.feature_names) <= entry.columns.keys():
            tau, overlap = agreement(scores, scores_of(old, entry, X))
            taus += [] if tau is None else [tau]
            overlaps.append(overlap)
    return Comparison(tried, *(float(np.mean(values)) if values else None for values in (taus, overlaps)))


def agreement(scores: Array, before: Array) -> tuple[float | None, float]:
    """Kendall's τ of two models' scores, None if all are tied, and the overlap of their top ten."""
    from scipy.stats import kendalltau

    tau, k = float(kendalltau(scores, before).statistic) if len(scores) > 1 else np.nan, min(10, len(scores))
    overlap = len(set(top_k(scores, k).tolist()) & set(top_k(before, k).tolist())) / k
    return (tau if tau == tau else None), overlap


def scores_of(model: Entry, entry: Entry, X: Singles, about: Mapping[str, float | str] | None = None) -> Array:
    """Score the documents of a query, whose features are in the order of another model's, `entry`.

    `about` are the query's own features.
    """
    data = Dataset.from_arrays(columns_of(model, entry, X)).grouped()
    return model.model.score(with_query_features(data, about, model))


def missing_feature(model: Entry, entry: Entry) -> str | None:
    """First feature of a model that requests for another model, `entry`, do not bring; None if there is none."""
    return next((name for name in model.feature_names if name not in entry.columns), None)


def columns_of(model: Entry, entry: Entry, X: Singles) -> Singles:
    """Select a model's features from a matrix in the order of another model's, `entry`."""
    if model.feature_names == entry.feature_names:
        return X
    return np.ascontiguousarray(X[:, [entry.columns[name] for name in model.feature_names]])


def _highest(entries: Mapping[str, Entry], before: Mapping[str, int]) -> dict[str, int]:
    """Highest version that each name ever had, so that no number is used twice."""
    highest = {str(name): int(version) for name, version in before.items()}
    for entry in entries.values():
        highest[entry.name] = max(entry.version, highest.get(entry.name, 0))
    return highest
