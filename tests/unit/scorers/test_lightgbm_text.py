"""LightGBM's reader ends the process on malformed text, so such text must never reach it."""

import functools
import hashlib
import json
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from podium.base.errors import ModelFileError
from podium.methods import METHODS
from podium.metrics import Metric
from podium.model import Model
from podium.scorers import Trees
from podium.scorers.trees import lightgbm_text
from podium.testing import linear_data
from podium.testing.examples import short
from podium.training import fit

DATA = linear_data(40, 10, n_features=4)


@functools.cache
def grown():
    return fit(short(METHODS["lambdamart"].learner, 3), DATA, metric=Metric.parse("ndcg@10"))


@functools.cache
def text():
    return grown().params["trees"].tobytes().decode()


def changed(pattern, replacement):
    """The text with one thing changed and the sizes of its trees brought up to date, as an attacker would."""
    made, count = re.subn(pattern, replacement, text(), count=1, flags=re.MULTILINE)
    assert count == 1
    return resized(made)


def resized(made):
    header, _, body = made.partition("\n\n")
    trees = re.findall(r"Tree=.*?\n\n\n", body, flags=re.DOTALL)
    header = re.sub(r"tree_sizes=[^\n]*", "tree_sizes=" + " ".join(str(len(tree)) for tree in trees), header)
    return f"{header}\n\n{body}"


TAMPERED = {
    "a child that does not exist": (r"^left_child=\S+", "left_child=900000000"),
    "a leaf that does not exist": (r"^right_child=\S+", "right_child=-900000000"),
    "a node that is its own child": (r"^left_child=\S+", "left_child=0"),
    "a leaf reached twice": (r"^right_child=(.*) (\S+) (\S+)$", r"right_child=\1 \2 \2"),
    "a feature that does not exist": (r"^split_feature=\S+", "split_feature=4"),
    "a feature far away": (r"^split_feature=\S+", "split_feature=500000000"),
    "a negative feature": (r"^split_feature=\S+", "split_feature=-7"),
    "more leaves than there are": (r"^num_leaves=\d+", "num_leaves=2000000000"),
    "a negative number of leaves": (r"^num_leaves=\d+", "num_leaves=-5"),
    "no leaves": (r"^num_leaves=\d+", "num_leaves=0"),
    "too few thresholds": (r"^threshold=\S+ ", "threshold="),
    "a category": (r"^decision_type=\S+", "decision_type=1"),
    "categories": (r"^num_cat=0", "num_cat=3"),
    "a linear tree": (r"^is_linear=0", "is_linear=1"),
    "a value that is not a number": (r"^leaf_value=\S+", "leaf_value=x"),
    "a value that is not finite": (r"^leaf_value=\S+", "leaf_value=nan"),
    "an endless number": (r"^leaf_value=\S+", "leaf_value=1" + 400 * "0"),
    "another number of features": (r"^max_feature_idx=3", "max_feature_idx=2000000000"),
    "no trees per iteration": (r"^num_tree_per_iteration=1", "num_tree_per_iteration=0"),
    "a million classes": (r"^num_class=1", "num_class=1000000"),
    "another version": (r"^version=v4", "version=v3"),
    "an objective": (r"^feature_infos", "objective=lambdarank\nfeature_infos"),
    "an additional line": (r"^num_cat=0", "num_cat=0\ncat_boundaries=0 9"),
    "a line twice": (r"^num_cat=0", "num_cat=0\nnum_leaves=99"),
    "something after the end": (r"^end of trees\n", "end of trees\n\nparameters:\n[num_threads: 2]\n"),
    "no end": (r"^end of trees\n", ""),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampered_trees_are_refused_in_words(what):
    with pytest.raises(ModelFileError, match=r"The text of the trees cannot be used: .* again"):
        lightgbm_text.check(changed(*TAMPERED[what]).encode(), 4)


@pytest.mark.parametrize("sizes", ["tree_sizes=10 20 30", "tree_sizes=99999999999", "tree_sizes=", "tree_sizes=0 -1"])
def test_wrong_sizes_of_trees_are_refused(sizes):
    made = re.sub(r"^tree_sizes=.*$", sizes, text(), flags=re.MULTILINE)
    with pytest.raises(ModelFileError, match="trees cannot be used"):
        lightgbm_text.check(made.encode(), 4)


def test_text_cut_anywhere_is_refused():
    raw = text().encode()
    for end in range(0, len(raw), 37):
        with pytest.raises(ModelFileError, match="trees cannot be used"):
            lightgbm_text.check(raw[:end], 4)


def test_bytes_that_are_not_text_are_refused():
    with pytest.raises(ModelFileError, match="not plain text"):
        lightgbm_text.check(b"tree\n\xff\xfe", 4)


def test_what_lightgbm_writes_passes():
    lightgbm_text.check(text().encode(), 4)
    assert resized(text()) == text()


def test_nothing_but_trees_is_kept():
    assert text().endswith("\nend of trees\n")
    assert "num_threads" not in text()


def test_a_constant_scores_zero():
    constant = np.frombuffer(lightgbm_text.constant(4), np.uint8)
    np.testing.assert_array_equal(Trees().score({"trees": constant}, DATA), np.zeros(DATA.n_documents))


def write_model(path, trees):
    """A model file whose trees are other ones, with all checksums right."""
    grown().save(path)
    with zipfile.ZipFile(path) as archive:
        head, raw = json.loads(archive.read("model.json")), trees.encode()
    about = head["arrays"]["params/trees"]
    about["shape"], about["sha256"] = [len(raw)], hashlib.sha256(raw).hexdigest()
    described = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = hashlib.sha256(described).hexdigest().encode()
        archive.writestr("model.json", described)
        archive.writestr("arrays/params/trees", raw)


def test_tampered_model_files_with_right_checksums_do_not_end_the_process(tmp_path):
    for number, change in enumerate(TAMPERED.values()):
        write_model(tmp_path / f"{number}.podium", changed(*change))
    program = (
        "import sys\nfrom podium.base.errors import ModelFileError\nfrom podium.model import Model\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n        Model.load(path)\n        print('loaded', path)\n"
        "    except ModelFileError as error:\n        print('refused')\n"
    )
    paths = sorted(map(str, tmp_path.glob("*.podium")))
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["refused"] * len(TAMPERED)


def test_a_rewritten_model_file_loads(tmp_path):
    write_model(tmp_path / "same.podium", text())
    np.testing.assert_array_equal(Model.load(tmp_path / "same.podium").score(DATA), grown().score(DATA))
