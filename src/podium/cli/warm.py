"""`podium warm`: compile what commands need in advance, e.g. when a container image is built."""

from __future__ import annotations

import queue
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.base.errors import PodiumError, counted
from podium.cli import console, progress

if TYPE_CHECKING:
    from podium.cli.progress import Bar

Command = list[str]
_DOCUMENTS = 60


def warm(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[METHOD]...", help="The methods to train with; all by default.", show_default=False),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores by default.", min=1, show_default=False)
    ] = None,
) -> None:
    """Compile the functions of train, rank, evaluate, search and serve, and keep them in the cache.

    For container images and continuous integration: later commands load machine code instead of compiling it. The
    cache is next to the installed files, in the user's cache, or in NUMBA_CACHE_DIR if it is set.
    """
    from podium.base.threads import default_threads
    from podium.jit.compiled import is_cached
    from podium.methods import METHODS, method

    chosen = names or list(METHODS)
    for name in chosen:
        method(name)  # refuses an unknown one
    if not is_cached():
        raise PodiumError("No cache folder can be written, so nothing would be kept. Set NUMBA_CACHE_DIR to a folder.")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="podium-warm-") as folder:
        tasks = _tasks(Path(folder), chosen)
        with progress.progress_bar(len(tasks)) as bar:
            functions, errors = _run(tasks, jobs or default_threads(), bar)
    for error in errors:
        console.say(f"failed: {error}")
    console.out(f"{counted(functions, 'function')} compiled in {time.monotonic() - begun:.0f} s")
    if errors:
        raise PodiumError(f"{counted(len(errors), 'command')} failed, so their functions may be missing.")


def _tasks(folder: Path, methods: list[str]) -> dict[str, list[Command]]:
    """Commands by the name of their task, and the small files that they read."""
    from podium.metrics import Metric

    _write_files(folder)
    data, test, run = (str(folder / name) for name in ("data", "data/test.txt", "run.txt"))
    catalogue = sorted(Metric.catalogue().items())
    everything = [option for name, metric in catalogue if not metric.reads_topics for option in ("-m", name)]
    qrels, scores = str(folder / "qrels.txt"), str(folder / "scores.txt")
    tasks = {"evaluate": [["evaluate", qrels, run, *everything], ["evaluate", test, scores, *everything]]}
    index, queries = str(folder / "my.index"), str(folder / "queries.txt")
    tasks["search"] = [
        ["index", str(folder / "documents.jsonl"), "-o", index],
        ["search", index, "word1 word2"],
        ["search", index, "word1 word2", "--by", "ql"],
        ["features", index, queries, qrels, "-o", str(folder / "features.txt")],
        ["train", str(folder / "features.txt"), "--method", methods[0], "-o", str(folder / "search.podium")],
        ["search", index, "word1 word2", "--model", str(folder / "search.podium")],
    ]
    for name in methods:
        model = str(folder / f"{len(tasks)}.podium")
        train = ["train", data, "--method", name, "-o", model]
        ranks = [["rank", model, test, *more] for more in ([], ["--odds"], ["--format", "trec", "-o", f"{model}.run"])]
        tasks[name] = [train, *ranks]
    return tasks


def _write_files(folder: Path) -> None:
    """Small data of every kind that the commands read."""
    import json

    from podium.base.files import write_texts
    from podium.data import make_letor_like, split
    from podium.formats import write_letor

    data, _ = make_letor_like(30, (5, 9), n_features=6, seed=1)
    (folder / "data").mkdir()
    parts = split(data)
    for name, part in zip(("train", "vali", "test"), parts, strict=True):
        write_letor(part, folder / "data" / f"{name}.txt")
    texts = [f"word{k % 7} word{k % 5} word{k % 3} text" for k in range(_DOCUMENTS)]
    pairs = [(f"q{k % 3}", f"d{k}", k % 3) for k in range(_DOCUMENTS)]
    write_texts(
        folder,
        {
            "scores.txt": "".join(f"{k % 7}\n" for k in range(parts[2].n_documents)),
            "qrels.txt": "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in pairs),
            "run.txt": "".join(f"{query} Q0 {document} 1 {len(document)} t\n" for query, document, _ in pairs),
            "documents.jsonl": "".join(
                json.dumps({"id": f"d{k}", "title": f"word{k % 4}", "text": text}) + "\n"
                for k, text in enumerate(texts)
            ),
            "queries.txt": "".join(f"q{k}\tword{k} word{k + 1}\n" for k in range(3)),
        },
    )


def _run(tasks: dict[str, list[Command]], jobs: int, bar: Bar) -> tuple[int, list[str]]:
    """Run tasks in processes; the number of compiled functions, and errors."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in tasks:
        waiting.put(name)
    counts, errors = list[int](), list[str]()
    threads = [
        threading.Thread(target=_work, args=(tasks, waiting, counts, errors, bar), daemon=True)
        for _ in range(min(jobs, len(tasks)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts), errors


def _work(
    tasks: dict[str, list[Command]], waiting: queue.SimpleQueue[str], counts: list[int], errors: list[str], bar: Bar
) -> None:
    """Give tasks to a process until none waits; a process that ended is replaced."""
    from podium.base.json_process import Child

    process: Child | None = None
    while True:
        try:
            name = waiting.get_nowait()
        except queue.Empty:
            break
        bar.put(name, 0.0)
        if process is None:
            process = Child("podium.cli.warm_worker", environment={"PODIUM_COMPILE": "always"}, quiet=True)
        process.send(tasks[name])
        answer = process.receive()
        if answer is None:
            errors.append(f"{name}: the process {process.exit()}")
            process = None
        else:
            counts.append(answer["functions"])
            errors += [f"{name}: {error}" for error in answer["errors"]]
        bar.put(name, 1.0, finished=True)
    if process is not None:
        process.kill()
