"""The shelf: versions that never change, aliases that move, and requests that see one model or the other."""

import asyncio
import errno
import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.service.domain_errors import RequestError
from podium.service.models.model_store import Entry, is_name
from podium.service.models.model_store_folder import receiving
from podium.service.models.versions import Models, compare

DOCUMENTS = [{"features": [0.5 * k - 1.0, 1.0 - k, 0.3 * k]} for k in range(4)]


@pytest.fixture
def shelf(start, models, tmp_path):
    """A service with a folder of models that holds web@1, the default."""
    return start(models=(str(models / "web.podium"),), shelf=str(tmp_path / "shelf"))


def test_a_model_is_put_tried_and_swapped_in(shelf, models, tmp_path):
    shelf("POST", "/v1/rank", {"documents": DOCUMENTS})
    file = (models / "trees.podium").read_bytes()
    put = shelf("PUT", "/v1/models/web", file)
    assert (put.status, put.json["model"], put.json["aliases"]) == (201, "web@2", [])
    assert shelf("POST", "/v1/rank", {"documents": DOCUMENTS}).json["model"] == "web@1"
    swap = shelf("PUT", "/v1/aliases/default", {"model": "web@2"})
    assert (swap.json["old"], swap.json["new"], swap.json["version"]) == ("web@1", "web@2", 2)
    assert swap.json["tried"]["requests"] == 2
    assert -1 <= swap.json["tried"]["kendall"] <= 1
    assert swap.json["tried"]["top10_overlap"] == 1.0  # 4 documents are all in the first ten
    assert shelf("POST", "/v1/rank", {"documents": DOCUMENTS}).json["model"] == "web@2"
    assert (tmp_path / "shelf" / "web" / "2.podium").read_bytes() == file
    assert shelf("GET", "/v1/models/web").json["models"][1]["aliases"] == ["default"]


def test_a_version_never_changes_and_no_number_is_used_twice(shelf, models):
    trees, web = ((models / f"{name}.podium").read_bytes() for name in ("trees", "web"))
    assert shelf("PUT", "/v1/models/web", web).status == 200  # the same bytes: the model that is there
    assert shelf("PUT", "/v1/models/web?version=1", trees).status == 409
    assert shelf("PUT", "/v1/models/web?version=7", trees).json["model"] == "web@7"
    assert shelf("DELETE", "/v1/models/web@7").json == {"deleted": ["web@7"]}
    assert shelf("PUT", "/v1/models/web?version=7", trees).status == 409
    assert shelf("PUT", "/v1/models/web", trees).json["model"] == "web@8"


LEAVES = """
import os, signal, sys
from pathlib import Path
from podium.service.models.model_store_folder import receiving
with receiving(Path(sys.argv[1])) as (path, file):
    file.write(b"half a model")
    file.flush()
    print(path.name, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_service_left_over_is_removed_and_what_another_receives_stays(start, models, tmp_path):
    folder = tmp_path / "shelf"
    start(models=(str(models / "web.podium"),), shelf=str(folder))
    for place in (folder, folder / "web"):
        done = subprocess.run([sys.executable, "-c", LEAVES, str(place)], capture_output=True, text=True, check=False)
        assert (place / done.stdout.strip()).exists()
    (folder / ".aliases.json.0123.part").write_text("{")
    with receiving(folder) as (path, _):  # as another service does now
        start(models=(), shelf=str(folder))
        assert path.exists()
        left = [one for one in folder.rglob("*") if one.name.startswith(".")]
        assert left == [path]
    assert not path.exists()


def test_a_full_disk_is_told_in_words(shelf, models, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    body = (models / "trees.podium").read_bytes()
    for where in ("podium.service.models.model_store_folder.os.fsync", "podium.base.files.os.fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(where, full)
            found = shelf("PUT", "/v1/models/web", body)
        assert found.status == 507
        assert "full" in found.json["detail"]
        assert not list((tmp_path / "shelf").rglob(".put-*"))
    assert shelf("GET", "/v1/models/web").json["models"][-1]["model"] == "web@1"


def test_versions_that_two_services_put_at_once_are_all_kept(start, models, tmp_path):
    folder, plain = tmp_path / "shelf", (models / "plain.podium").read_bytes()
    services = [start(models=(str(models / "web.podium"),), shelf=str(folder)) for _ in range(2)]
    data, _ = podium.make_letor_like(20, (5, 9), n_features=4, seed=1)
    files = []
    for k in range(8):
        podium.train(data, f"listnet(iterations={k + 1})").save(tmp_path / "one.podium")
        files.append((tmp_path / "one.podium").read_bytes())
    answers = []

    def put(service, body):
        answers.append((service("PUT", "/v1/models/web", body).json["model"], body))

    threads = [threading.Thread(target=put, args=(services[k % 2], body)) for k, body in enumerate([*files, plain])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(key for key, _ in answers) == sorted(f"web@{k}" for k in range(2, 11))
    for key, body in answers:
        assert (folder / "web" / f"{key.partition('@')[2]}.podium").read_bytes() == body


def test_a_version_whose_writer_was_killed_before_it_was_told_is_never_replaced(shelf, models, tmp_path):
    left = tmp_path / "shelf" / "web" / "2.podium"
    for content in ((models / "plain.podium").read_bytes(), b"damaged"):
        left.write_bytes(content)
        found = shelf("PUT", "/v1/models/web", (models / "trees.podium").read_bytes())
        assert left.read_bytes() == content
        assert found.json["model"] == "web@3"
        left.unlink()


def test_nobody_else_on_the_machine_can_read_the_models(shelf, models, tmp_path):
    shelf("PUT", "/v1/models/web", (models / "trees.podium").read_bytes())
    assert oct((tmp_path / "shelf").stat().st_mode & 0o777) == "0o700"
    for number in (1, 2):
        assert oct((tmp_path / "shelf" / "web" / f"{number}.podium").stat().st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("text", ['{"highest": 5}', '{"highest": {"web": "x"}}', '{"aliases": 7}', "{", "[]"])
def test_a_damaged_file_of_aliases_is_told_in_words(models, tmp_path, text):
    folder = tmp_path / "shelf"
    Models(folder).add_files([models / "web.podium"])
    (folder / "aliases.json").write_text(text)
    try:
        Models(folder)
    except DataError as error:
        assert "aliases" in str(error)  # noqa: PT017
    else:
        assert text == "[]"


def test_a_model_in_use_is_not_deleted(shelf):
    assert shelf("DELETE", "/v1/models/web@1").status == 409
    assert shelf("DELETE", "/v1/models/nope").status == 404


def test_a_file_that_is_no_model_is_refused_and_nothing_is_left(shelf, tmp_path):
    found = shelf("PUT", "/v1/models/web", b"no model")
    assert found.status == 422
    assert "not a podium model" in found.json["detail"]
    assert sorted(path.name for path in (tmp_path / "shelf").iterdir()) == ["aliases.json", "web"]


def test_if_match_refuses_a_swap_that_someone_else_made_first(shelf):
    assert shelf("PUT", "/v1/aliases/default", {"model": "web@1"}, if_match='"1"').headers["etag"] == '"2"'
    assert shelf("PUT", "/v1/aliases/default", {"model": "web@1"}, if_match='"1"').status == 412
    assert shelf("PUT", "/v1/aliases/default", {"model": "web@1"}, if_match="x").status == 422


def test_without_a_folder_models_are_fixed(client, models):
    assert client("PUT", "/v1/models/web", (models / "web.podium").read_bytes()).status == 409
    assert client("PUT", "/v1/aliases/default", {"model": "trees"}).status == 409


def test_what_was_put_is_there_after_a_restart_and_seen_by_others(models, tmp_path):
    first, other = Models(tmp_path / "shelf"), Models(tmp_path / "shelf")
    first.add_files([models / "web.podium", models / "trees.podium"])
    first.set_alias("default", "web@1")
    assert other.follow()
    assert other.current.find("default").key == "web@1"
    other.set_alias("default", "trees@1")
    assert first.follow()
    assert not first.follow()
    assert first.current.find("default").key == Models(tmp_path / "shelf").current.find("default").key == "trees@1"


def test_another_process_keeps_its_model_where_the_new_one_cannot_be_loaded(models, tmp_path):
    first, other = Models(tmp_path / "shelf"), Models(tmp_path / "shelf")
    first.add_files([models / "web.podium"])
    first.set_alias("default", "web@1")
    other.follow()
    first.add_files([models / "trees.podium"])
    first.set_alias("default", "trees@1")
    (tmp_path / "shelf" / "trees" / "1.podium").write_bytes(b"damaged")
    other.follow()
    assert other.current.find("default").key == "web@1"
    assert "damaged" in next(iter(other.failed.values()))


def test_a_model_whose_scores_are_not_finite_on_the_last_requests_is_not_swapped_in(models, tmp_path, monkeypatch):
    kept = Models(tmp_path / "shelf")
    web, trees = kept.add_files([models / "web.podium", models / "trees.podium"])
    kept.set_alias("default", "web@1")
    kept.remember(web, np.zeros((4, 3), np.float32))
    monkeypatch.setattr(type(trees.model), "score", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        kept.set_alias("default", "trees@1")
    assert kept.current.find("default") is web


def test_models_with_their_features_in_another_order_are_compared_by_name(models):
    data, _ = podium.make_letor_like(30, (5, 12), n_features=4, seed=1)
    names = ("bm25", "title", "age")
    X = np.ascontiguousarray(data.features[:, :3])
    same = podium.train(data.with_features(X, names), "regression")
    turned = podium.train(data.with_features(np.ascontiguousarray(X[:, ::-1]), names[::-1]), "regression")
    one, other, fewer = (
        Entry(name, 1, model, "", 0)
        for name, model in (("a", same), ("b", turned), ("c", podium.load(models / "plain.podium")))
    )
    found = compare(one, other, [(one, X[:8])])
    assert (found.requests, found.kendall, found.top10_overlap) == (1, pytest.approx(1.0), 1.0)
    assert compare(one, fewer, [(one, X[:8])]).requests == 0  # its features are called 1, 2 and 3


def test_every_answer_under_swaps_is_of_the_model_that_it_names(start, models, tmp_path):
    """Aliases flip while clients rank: scores are those of the named model, bit for bit."""
    client = start(models=(str(models / "web.podium"), str(models / "trees.podium")), shelf=str(tmp_path / "shelf"))
    state = client.app.state.podium
    X = [one["features"] for one in DOCUMENTS]
    expected = {f"{name}@1": podium.load(models / f"{name}.podium").score(X).tolist() for name in ("web", "trees")}
    stop = threading.Event()

    def flip():
        for turn in range(1000):
            if stop.wait(0.005):
                return
            state.models.set_alias("default", ("trees@1", "web@1")[turn % 2])

    async def rank(n):
        seen = set()
        for _ in range(n):
            found = (await client.call("POST", "/v1/rank", {"documents": DOCUMENTS})).json
            scores = {one["index"]: one["score"] for one in found["results"]}
            assert [scores[k] for k in range(4)] == expected[found["model"]]
            seen.add(found["model"])
            await asyncio.sleep(0)
        return seen

    async def both():
        return await asyncio.gather(rank(150), rank(150))

    flipping = threading.Thread(target=flip)
    flipping.start()
    try:
        until, seen = time.monotonic() + 20, set()
        while len(seen) < 2 and time.monotonic() < until:
            seen |= set.union(*asyncio.run(both()))
    finally:
        stop.set()
        flipping.join()
    assert seen == {"web@1", "trees@1"}


@pytest.mark.parametrize("name", ["..", "a/b", "../../etc", "", "A", ".hidden", "a..b", "x" * 65, "a\n", "%2e%2e", "ä"])
def test_names_that_could_lead_elsewhere_are_refused(name, tmp_path, models):
    assert not is_name(name)
    with pytest.raises(RequestError):
        Models(tmp_path / "shelf").put(name, models / "web.podium")
    assert not list(tmp_path.glob("*.podium"))


def test_aliases_are_plain_json(shelf, tmp_path):
    found = json.loads((tmp_path / "shelf" / "aliases.json").read_text())
    assert found["aliases"] == {"default": {"model": "web@1", "version": 1}}
