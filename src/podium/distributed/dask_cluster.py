"""Cluster: workers of a Dask cluster, or processes of this machine, that hold parts of data and compute on them.

    with Cluster("local:4") as cluster:                    # four processes on this machine
    with Cluster("tcp://10.0.0.1:8786") as cluster:        # a scheduler that `dask scheduler` started

Work is sent as tasks that any worker can repeat: if a worker is lost, its parts are computed again on another. This is
the only file that imports Dask. Dask runs any code that it is sent: keep schedulers on private networks, or use tls://
with the certificates of Dask's own configuration.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from podium.base.errors import ClusterError, MissingPackageError, ParameterError, PodiumError
from podium.base.threads import default_threads
from podium.jit.tiers import machine_code

if TYPE_CHECKING:
    from podium.base.arrays import Array
    from podium.comparison.run import Pool
    from podium.data.table import Table
    from podium.evaluation.compare import Comparison
    from podium.model import Model

PATIENCE = 600.0
"""Timeout of a step, in seconds."""
NO_WORKER = 60.0
"""Timeout without any worker, in seconds."""
_CONNECT = 30.0
_LOOK = 5.0  # seconds between two checks that the cluster is still alive
_RETRIES = 3  # of a failed task, or one whose worker was lost
_PACKAGES = ("podium", "numpy", "scipy", "numba", "lightgbm")


class WorkerLostError(ClusterError):
    """A worker with data that the work needs was lost."""


class Cluster:
    """Workers of a cluster. `address` is local, local:N, or that of a Dask scheduler, e.g. tcp://host:8786. A step that
    takes longer than `patience` seconds raises an error.
    """

    def __init__(self, address: str = "local", *, patience: float = PATIENCE) -> None:
        self.address, self.patience = address, patience
        self._stack, self._places = ExitStack(), 0
        self.written: WeakKeyDictionary[Any, Path] = WeakKeyDictionary()  # data → its cache in `folder`
        self.local = address == "local" or address.startswith("local:")
        try:
            self._client = self._connected()
            self._check_versions()
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect; local workers end."""
        self._stack.close()

    @property
    def n_workers(self) -> int:
        """Current number of workers."""
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    @property
    def memory(self) -> float:
        """Memory limit of all workers together, in bytes."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return float(sum(worker["memory_limit"] or 0 for worker in workers))

    def folder(self) -> Path:
        """New temporary folder for data that local workers read; it is deleted with the cluster."""
        if not self.local:
            raise ParameterError(
                f"workers of {self.address} cannot see data in this process's memory. Give Parquet with columns label "
                "and qid, or a cache, where all of them can read it: podium cache DATA -o /shared/train.pod"
            )
        if self._places == 0:
            self._root = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="podium-")))
        self._places += 1
        return self._root / str(self._places)

    def train(self, data: Any, *arguments: Any, **options: Any) -> Model:
        """Train a model as `podium.train` does, on the workers.

        `data`: as for `podium.train`; workers on other machines need a cache that they can read, see `folder`.
        `arguments`: further arguments of `podium.train` by position, such as the method.
        `options`: arguments of `podium.train` by name.
        """
        from podium.distributed.cluster_training import fitting
        from podium.training import train

        return train(data, *arguments, **options, fitting=fitting(self))

    def score(self, model: Model, data: Table) -> Array:
        """Score each document as `Model.score` does, in parts on the workers.

        `model`: a fitted model.
        `data`: a table of features; workers on other machines need a cache that they can read, see `folder`.
        """
        from podium.distributed.cluster_scoring import score

        return score(self, model, data)

    def compare(self, data: Any, *arguments: Any, **options: Any) -> Comparison:
        """Compare methods as `podium.compare` does; each method on each fold is a task of a worker.

        `data`: as for `podium.compare`.
        `arguments`: further arguments of `podium.compare` by position, such as the methods.
        `options`: arguments of `podium.compare` by name, except `jobs` and `pool`.
        """
        from podium.comparison.run import compare

        return compare(data, *arguments, **options, jobs=self.n_workers, pool=self.pool())

    def pool(self) -> Pool:
        """Pool that runs the tasks of `podium.compare` and `podium.run_spec` on the workers."""
        from podium.distributed.cluster_comparison import pool

        return pool(self)

    def keep(self, function: Callable[..., Any], items: Sequence[Any], *common: object) -> list[Any]:
        """Apply a function to each of `items`, and keep the results on the workers. Returns a handle for each.

        `function`: called with an item, and with `common`, the same in all calls.
        """
        return [self._client.submit(_called, function, item, *common, pure=False, retries=_RETRIES) for item in items]

    def map(self, function: Callable[..., Any], handles: Sequence[Any], *common: object) -> list[Any]:
        """Apply a function to each of `handles` or items. Returns the results, in their order.

        `function` and `common`: those of `keep`.
        """
        return self.wait(self.keep(function, handles, *common))

    def each(self, function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Apply a `function` to each of `items`: its arguments, the first of which is a handle. Returns the results."""
        tasks = [self._client.submit(_called, function, *item, pure=False, retries=_RETRIES) for item in items]
        return self.wait(tasks)

    def wait(self, handles: list[Any]) -> list[Any]:
        """Wait for the results of `handles`, as `keep` and `start` return them, or raise a clear error."""
        from dask.distributed import wait

        started, alone = time.monotonic(), None
        while True:
            try:
                wait(handles, timeout=_LOOK)
                return list(self._client.gather(handles))
            except TimeoutError:
                alone = self._alone_since(alone)
            except (PodiumError, MemoryError):
                raise
            except Exception as error:
                raise self._words(error) from error
            if time.monotonic() - started > self.patience:
                raise ClusterError(
                    f"a step took longer than {self.patience:.0f} seconds on {self.address}. Give it more (patience)."
                )

    def first(self, handles: Sequence[Any]) -> tuple[Any, Any]:
        """Wait for the first of `handles` that has ended, with its result or error; raises if the cluster is lost."""
        from dask.distributed import wait

        alone, done = None, set[Any]()
        while not done:
            try:
                done = wait(list(handles), timeout=_LOOK, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                alone = self._alone_since(alone)
            except Exception as error:
                raise self._words(error) from error
        handle = next(task for task in handles if task in done)
        try:
            return handle, handle.result(timeout=self.patience)
        except PodiumError as error:
            return handle, error
        except Exception as error:
            words = self._words(error)
            if self._client.status != "running":
                raise words from error
            return handle, words

    def addresses(self) -> list[str]:
        """Addresses of the workers, sorted."""
        return sorted(self._client.scheduler_info(n_workers=-1)["workers"])

    def on(self, addresses: Sequence[str], function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a `function` on each of the workers at `addresses`, with its arguments, one of `items`.

        Raises `WorkerLostError` if one is lost.
        """
        from dask.distributed import wait

        tasks = [
            self._client.submit(_called, function, *item, workers=[address], pure=False)
            for address, item in zip(addresses, items, strict=True)
        ]
        started = time.monotonic()
        while True:
            try:
                wait(tasks, timeout=_LOOK)
                return list(self._client.gather(tasks))
            except TimeoutError:
                lost = set(addresses) - set(self.addresses() if self._present() else ())
            except (PodiumError, MemoryError):
                raise
            except Exception as error:
                raise self._words(error) from error
            if lost:
                self._client.cancel(tasks)
                raise WorkerLostError(f"worker {min(lost)} of {self.address} was lost.")
            if time.monotonic() - started > self.patience:
                raise ClusterError(f"a step took longer than {self.patience:.0f} seconds on {self.address}.")

    def forget(self, addresses: Sequence[str], function: Callable[..., Any], *arguments: object) -> None:
        """Call a `function` with `arguments` on those of `addresses` that live; results and errors are ignored."""
        with suppress(Exception):
            alive = [address for address in addresses if address in self.addresses()]
            self._client.run(function, *arguments, workers=alive, on_error="ignore")

    def settle(self, n: int) -> None:
        """Wait until there are `n` workers again, after one was lost; after a timeout, fewer will do."""
        with suppress(TimeoutError):
            self._client.wait_for_workers(n, timeout=NO_WORKER)
        if not self._present():
            raise ClusterError(f"no worker of {self.address} is left. Start some.")

    def check(self, handles: Sequence[Any]) -> None:
        """Wait until the results of all `handles` are on the workers, or raise a clear error."""
        self.map(_done, handles)

    def start(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Start a task: a `function` with `arguments`. Returns its handle."""
        return self._client.submit(_called, function, *arguments, pure=False, retries=_RETRIES)

    def _connected(self) -> Any:
        try:
            import dask
            from dask.distributed import Client, LocalCluster
        except ImportError:
            raise MissingPackageError("distributed", "A cluster", "distributed") from None
        self._stack.enter_context(dask.config.set(_SETTINGS))
        self._stack.enter_context(_quiet())
        place: Any = self.address
        if self.local:
            n = _number(self.address)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the port of another cluster's dashboard is taken
                place = LocalCluster(
                    n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
                )
            self._stack.enter_context(place)
        elif "://" not in self.address:
            raise ParameterError(
                f"a cluster is local, local:N, or an address, e.g. tcp://host:8786; got {self.address}."
            )
        try:
            client = self._stack.enter_context(Client(place, timeout=_CONNECT))
            client.wait_for_workers(1, timeout=NO_WORKER)
        except (OSError, TimeoutError) as error:
            raise ClusterError(f"no cluster with workers answers at {self.address}: {_first_line(error)}") from error
        return client

    def _check_versions(self) -> None:
        """Raise a clear error if a worker has other versions of the packages that compute."""
        ours = versions()
        try:
            answers = self._client.run(versions)
        except Exception as error:
            raise ClusterError(f"workers of {self.address} cannot run podium: {_first_line(error)}") from error
        for worker, theirs in answers.items():
            apart = [f"{name} {theirs.get(name)}, here {ours[name]}" for name in ours if theirs.get(name) != ours[name]]
            if apart:
                raise ClusterError(
                    f"worker {worker} has {'; '.join(apart)}. Results would differ: install the same versions."
                )

    def _alone_since(self, before: float | None) -> float | None:
        """Time since which there is no worker, None if there is one; raises after NO_WORKER seconds."""
        if self._present():
            return None
        now = time.monotonic()
        if before is not None and now - before > NO_WORKER:
            raise ClusterError(f"no worker of {self.address} was there for {NO_WORKER:.0f} seconds. Start some.")
        return now if before is None else before

    def _present(self) -> bool:
        return bool(self._client.status == "running" and self.n_workers)

    def _words(self, error: Exception) -> Exception:
        """Clear error for an error of Dask."""
        kind = type(error).__name__
        if kind == "KilledWorker":
            return ClusterError(
                f"{_RETRIES + 1} workers of {self.address} were lost while they did the same task, as happens when "
                "memory runs out. Use more workers, or data as a cache."
            )
        if "Cancelled" in kind or "Comm" in kind or self._client.status != "running":
            return ClusterError(f"the scheduler at {self.address} went away. Start it, and give the command again.")
        return ClusterError(f"a task failed on {self.address}: {kind}: {_first_line(error)}")


_SETTINGS = {
    "distributed.scheduler.allowed-failures": _RETRIES,
    "distributed.comm.timeouts.connect": "20s",
    "distributed.worker.daemon": True,
    "distributed.admin.large-graph-warning-threshold": "1GB",
}


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the loggers of Dask: podium raises clear errors itself."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(_LOUD)]
    before = [log.level for log in loggers]
    for log in loggers:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(loggers, before, strict=True):
            log.setLevel(level)


_LOUD = ("distributed", "tornado", "asyncio")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute."""
    packages = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"python": ".".join(platform.python_version_tuple()[:2]), **packages}


def _called(function: Callable[..., Any], *arguments: object) -> Any:
    """Run a task in one thread, since a worker may run several tasks, and by machine code, as small parts would not."""
    os.environ["PODIUM_THREADS"] = "1"
    with machine_code():
        return function(*arguments)


def _done(result: object) -> bool:
    return True


def _number(address: str) -> int:
    word = address.removeprefix("local").removeprefix(":")
    if address == "local":
        return default_threads()
    if not word.isdigit() or int(word) < 1:
        raise ParameterError(f"local:N starts N processes, at least 1; got {address!r}.")
    return int(word)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
