"""A model is one file of numbers; whatever is wrong with it is said in words."""

import functools
import hashlib
import json
import re
import zipfile

import numpy as np
import pytest

from podium.base.errors import DataError, ModelFileError
from podium.data.dataset import Dataset
from podium.model import Model
from podium.testing import linear_data
from podium.training import train

DATA = linear_data(10, 8)


@functools.cache
def trained(method="ranknet"):
    return train(DATA, method)


@pytest.fixture
def path(tmp_path):
    trained().save(tmp_path / "m.podium")
    return tmp_path / "m.podium"


def rewrite(path, *, head=None, arrays=None, compression=zipfile.ZIP_STORED, extra=()):
    """Change what a model file says and bring every checksum up to date, as an attacker would."""
    with zipfile.ZipFile(path) as archive:
        old = json.loads(archive.read("model.json"))
        blobs = {name: archive.read(f"arrays/{name}") for name in old["arrays"]}
    for name, array in (arrays or {}).items():
        blobs[name] = array.tobytes()
        old["arrays"][name] = {
            "type": array.dtype.str,
            "shape": array.shape,
            "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
        }
    text = json.dumps(old | (head or {})).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.comment = hashlib.sha256(text).hexdigest().encode()
        archive.writestr("model.json", text)
        for name, raw in [*blobs.items(), *extra]:
            archive.writestr(f"arrays/{name}", raw)


def refused(path):
    with pytest.raises(ModelFileError) as caught:
        Model.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def test_a_rewritten_file_still_loads(path):
    rewrite(path)
    np.testing.assert_array_equal(Model.load(path).score(DATA), trained().score(DATA))


def test_names_and_history_are_kept(tmp_path):
    data = Dataset.from_arrays(DATA.features, DATA.labels, group=DATA.sizes, feature_names=["a", "b", "ü"])
    train(data, "listnet", seed=4).save(tmp_path / "m")
    loaded = Model.load(tmp_path / "m")
    assert loaded.feature_names == ("a", "b", "ü")
    assert loaded.info["seed"] == 4
    assert loaded.info["data"] == data.digest()


def test_saving_leaves_nothing_else_behind_and_replaces_the_old(path):
    trained("listnet").save(path)
    assert Model.load(path).learner == trained("listnet").learner
    assert [file.name for file in path.parent.iterdir()] == ["m.podium"]


def test_predictions_come_back_in_the_order_of_the_rows():
    qid = np.random.default_rng(0).permutation(DATA.query_index)
    np.testing.assert_allclose(
        trained().score(DATA.features, qid=qid), trained().score(DATA.features), rtol=1e-12, atol=1e-12
    )


def test_ranks_start_at_one_in_every_query_and_ties_share_them():
    model = Model(trained().learner, {"theta": np.zeros(4)}, trained().state, 3, None, {})
    np.testing.assert_array_equal(model.rank(DATA), np.ones(DATA.n_documents))
    scores, ranks = trained().score(DATA)[:8], trained().rank(DATA)[:8]
    np.testing.assert_array_equal(ranks, [1 + np.sum(scores > score) for score in scores])


def test_another_number_of_features_is_refused():
    with pytest.raises(DataError, match="5 features, but the model was trained with 3"):
        trained().score(linear_data(n_features=5))


def test_features_are_found_by_name_whatever_their_order():
    X, y, qid = DATA.features, DATA.labels, DATA.query_index
    names = [f"f{k}" for k in range(DATA.n_features)]
    model = train(Dataset.from_arrays(X, y, qid=qid, feature_names=names), "ranknet")
    back = np.column_stack([X[:, ::-1], np.zeros(len(X))])
    shuffled = Dataset.from_arrays(back, y, qid=qid, feature_names=[*names[::-1], "new"])
    np.testing.assert_array_equal(model.score(shuffled), model.score(X, qid=qid))
    with pytest.raises(DataError, match="no feature 'f0'"):
        model.score(Dataset.from_arrays(X, y, qid=qid, feature_names=["g", *names[1:]]))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert "no such model file" in refused(tmp_path / "none.podium")
    assert "cannot be read" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\0", b"hello world\n" * 100, b"PK\x05\x06" + 18 * b"\0"])
def test_what_is_not_a_model_is_refused(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    assert "not a podium model, or damaged" in refused(tmp_path / "m")


def test_an_archive_of_something_else_is_refused(tmp_path):
    text = b'{"format": "other"}'
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        archive.comment = hashlib.sha256(text).hexdigest().encode()
        archive.writestr("model.json", text)
    assert "It is not a podium model" in refused(tmp_path / "m")


def test_a_file_cut_anywhere_is_refused(path):
    raw = path.read_bytes()
    for end in [*range(0, len(raw), 61), len(raw) - 1]:
        path.write_bytes(raw[:end])
        refused(path)


def test_a_flipped_bit_anywhere_is_refused_or_changes_nothing(path):
    raw = path.read_bytes()
    kept = 0
    for at in range(0, len(raw), 3):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ (1 << at % 8)]) + raw[at + 1 :])
        try:
            loaded = Model.load(path)
        except ModelFileError:
            continue
        kept += 1
        assert loaded.score(DATA).tobytes() == trained().score(DATA).tobytes()
        assert loaded.info == trained().info
    assert kept < 0.2 * len(raw) / 3  # dates and attributes of the archive's entries


@pytest.mark.parametrize("name", ["model.json", "arrays/params/theta", "arrays/state/scale"])
def test_a_flipped_byte_of_content_is_refused(path, name):
    raw = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        content = archive.read(name)
    at = raw.index(content) + len(content) // 2
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    assert "damaged" in refused(path) or "checksum" in refused(path)


def test_an_array_that_does_not_match_its_checksum_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read("model.json"))["arrays"]
    rewrite(path, arrays={"params/theta": np.ones(4)}, head={"arrays": about})
    assert "Array params/theta does not match its checksum" in refused(path)


def test_compressed_entries_are_refused_before_they_are_unpacked(path):
    rewrite(path, compression=zipfile.ZIP_DEFLATED, extra=[("bomb", bytes(50_000_000))])
    assert path.stat().st_size < 100_000
    assert "is compressed; podium models are not" in refused(path)


def test_a_newer_format_asks_for_an_upgrade(path):
    rewrite(path, head={"version": 99})
    assert "written by a newer podium (format 99; this one reads 1). Upgrade podium" in refused(path)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ({"learner": "recipe(loss=lamdarank)"}, "Did you mean 'lambdarank'"),
        ({"learner": "nothing-like-it"}, "No learner 'nothing-like-it'"),
        ({"learner": 7}, "not a podium model, or damaged"),
        ({"n_features": 4}, "this model cannot be used here|damaged"),
        ({"n_features": 0}, "claims 0 features"),
        ({"n_features": -3}, "claims -3 features"),
        ({"n_features": 10**12}, "claims 1000000000000 features"),
        ({"n_features": "many"}, "damaged"),
        ({"feature_names": ["a"]}, "names 1 features of 3"),
        ({"feature_names": 5}, "damaged"),
        ({"info": None}, "damaged"),
        ({"arrays": []}, "damaged"),
        ({"arrays": {}}, "damaged"),
        ({"arrays": {"params/theta": {"type": "|O", "shape": [1], "sha256": ""}}}, "Array params/theta is damaged"),
        ({"version": "new"}, "damaged"),
        ({"learner": "recipe(scorer=mlp(hidden=[1000000000,1000000000]))"}, "cannot be used here"),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(path, head, words):
    rewrite(path, head=head)
    assert re.search(words, refused(path))


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros(4000), np.zeros((2, 2)), np.zeros(4, np.float32), np.array([0, 0, np.nan, 0.0])],
)
def test_parameters_that_do_not_fit_are_refused(path, array):
    rewrite(path, arrays={"params/theta": array})
    assert "cannot be used here" in refused(path)


def test_a_transforms_state_that_does_not_fit_is_refused(path):
    rewrite(path, arrays={"state/mean": np.zeros(7)})
    refused(path)


def test_a_baseline_that_names_no_feature_is_refused(path):
    trained("single-feature").save(path)
    rewrite(path, arrays={"params/feature": np.array([9])})
    refused(path)


def test_deeply_nested_descriptions_are_refused(path):
    text = (b"[" * 100_000) + (b"]" * 100_000)
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = hashlib.sha256(text).hexdigest().encode()
        archive.writestr("model.json", text)
    refused(path)


@pytest.mark.parametrize("method", ["ranknet", "ranknet(scorer=mlp(hidden=[4]),epochs=1)"])
def test_scores_that_are_no_numbers_are_refused_and_not_given(tmp_path, method):
    path = tmp_path / "m.podium"
    trained(method).save(path)
    theta = Model.load(path).params["theta"]
    rewrite(path, arrays={"params/theta": np.where(np.arange(len(theta)) < len(theta) - 1, 1e308, 0.0)})
    try:
        model = Model.load(path)
    except ModelFileError:
        return
    with (
        np.errstate(all="ignore"),
        pytest.raises(DataError, match=r"document \d+ of query \d+ has the score (-?inf|nan)"),
    ):
        model.score(DATA)


@pytest.mark.parametrize("temperature", [0.0, -1.0, 1e-320, 1e300, "1", None])
def test_a_temperature_that_gives_no_odds_is_refused(path, temperature):
    rewrite(path, head={"info": {**trained().info, "temperature": temperature}})
    assert "temperature" in refused(path)


def test_a_model_is_shown_on_one_line():
    assert repr(trained()) == "Model(recipe(loss=ranknet(normalise=true)), 3 features)"
    tuned = train(DATA, "ranknet", valid=DATA)
    assert repr(tuned).endswith(f"3 features, ndcg@10 {tuned.info['valid']:.4f} on validation data)")
