"""The commands export, prove and import: what they print, write and refuse."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from podium.base.errors import IncompatibleError
from podium.export.feature_sets import feature_set
from podium.imports import import_model
from podium.model import Model
from reference.foreign import files
from reference.forests import odd


@pytest.fixture
def model(tmp_path):
    """A linear model of three features."""
    import_model(b"## Coordinate Ascent\n1:0.5 2:-1.0 3:0.25\n").save(tmp_path / "linear.podium")
    odd("tiny").save(tmp_path / "trees.podium")
    odd("minus tiny").save(tmp_path / "negative.podium")
    return tmp_path


def test_an_export_is_proven_and_proven_again(podium, model):
    done = podium("export", "trees.podium", "--to", "elasticsearch-ltr", "-o", "trees.json", "--proof", "proof.json")
    assert done.exit_code == 0, done.output
    assert "proven: 2 trees of 8 leaves for elasticsearch-ltr, emulated" in done.stdout
    assert "decisions  6 of 6 splits the same for all finite float32 inputs" in done.stdout
    assert "_createmodel" in done.stdout
    proof = json.loads(Path("proof.json").read_text())
    assert proof["holds"]
    assert proof["decisions"]["differences"] == []
    rows = [json.loads(line) for line in Path("trees.json.vectors.jsonl").read_text().splitlines()]
    assert len(rows) == proof["sums"]["vectors"]
    assert set(rows[0]) == {"features", "score"}
    assert podium("prove", "trees.podium", "trees.json", "--to", "elasticsearch-ltr").exit_code == 0


def test_a_file_that_was_tampered_with_is_not_proven(podium, model):
    podium("export", "trees.podium", "--to", "elasticsearch-ltr", "-o", "trees.json")
    Path("trees.json").write_text(Path("trees.json").read_text().replace("0.33333334", "0.33333337"))
    done = podium("prove", "trees.podium", "trees.json", "--to", "elasticsearch-ltr")
    assert done.exit_code == 1
    assert "NOT PROVEN" in done.stdout
    assert "another value" in done.stdout
    assert "export the model again" in done.stdout
    done = podium("prove", "trees.podium", "trees.json", "--to", "xgboost")
    assert done.exit_code == 1
    assert "no file that podium exports to xgboost (learner is missing" in done.stderr


def test_what_cannot_be_proven_is_written_under_another_name(podium, model):
    done = podium("export", "negative.podium", "--to", "solr", "-o", "trees.json")
    assert done.exit_code == 1
    assert "NOT PROVEN" in done.stdout
    assert "f1 in (-1.1368683772161603e-13, -1.0000000180025095e-35]" in done.stdout
    assert "--data" in done.stdout
    assert Path("trees.json.unproven").exists()
    assert not Path("trees.json").exists()


def test_what_differs_for_lightgbms_zeros_alone_is_proven_except_on_them(podium, model):
    Path("trees.json.unproven").write_text("of an earlier export")
    done = podium("export", "trees.podium", "--to", "solr", "-o", "trees.json", "--proof", "proof.json")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("proven except on 1 interval, below: 2 trees of 8 leaves for solr")
    assert "except   f1 in (0.0, 1.0000000180025095e-35], 4 splits" in done.stdout
    assert json.loads(Path("proof.json").read_text())["state"].startswith("proven except")
    assert Path("trees.json").exists()
    assert not Path("trees.json.unproven").exists()


def test_what_a_target_has_no_words_for_is_refused_before_anything_is_written(podium, model):
    done = podium("export", "linear.podium", "--to", "xgboost", "-o", "x.json")
    assert done.exit_code == 1
    assert "xgboost takes trees; this model is a linear model" in done.stderr
    assert podium("export", "linear.podium", "--to", "xgbost", "-o", "x.json").exit_code == 2
    assert podium("export", "linear.podium", "--to", "c", "-o", "-").exit_code == 2
    assert not list(Path().glob("x.json*"))


def test_feature_names_are_the_engines(podium, model):
    Path("names.txt").write_text("bm25(title)\nattribute(age)\nf3\n")
    done = podium("export", "linear.podium", "--to", "vespa", "-o", "m.profile", "--features", "names.txt")
    assert done.exit_code == 0, done.output
    assert "* bm25(title) +" in Path("m.profile").read_text()
    Path("names.txt").write_text("bm25(title)\n")
    done = podium("export", "linear.podium", "--to", "vespa", "-o", "n.profile", "--features", "names.txt")
    assert done.exit_code == 2
    assert "1 feature names for a model of 3 features" in done.stderr


def test_a_program_tests_itself(podium, model):
    assert podium("export", "trees.podium", "--to", "python", "-o", "m.py").exit_code == 0
    done = subprocess.run([sys.executable, "-I", "m.py", "--selftest"], capture_output=True, text=True, check=True)
    assert done.stdout == "64 of 64 vectors score as in podium\n"


@pytest.mark.parametrize(("name", "before", "after"), [
    ("python", "import math", "import os"),
    ("python", 'FEATURE = array("i", [', 'FEATURE = array("i", [print(1), '),
    ("c", "double sum = 0.0;", 'double sum = system("ls");'),
    ("c", "nan_left[6] = {", "nan_left[6] = {abort(), "),
])  # fmt: skip
def test_a_program_with_other_code_than_podiums_is_not_run(podium, model, name, before, after):
    assert podium("export", "trees.podium", "--to", name, "-o", "m").exit_code == 0
    text = Path("m").read_text()
    assert before in text
    Path("m").write_text(text.replace(before, after, 1))
    done = podium("prove", "trees.podium", "m", "--to", name)
    assert done.exit_code == 1
    assert "Export the model again" in done.stderr


def test_a_program_whose_trees_have_no_end_is_not_run(podium, model):
    assert podium("export", "trees.podium", "--to", "python", "-o", "m").exit_code == 0
    text = Path("m").read_text()
    row = next(line for line in text.splitlines() if line.startswith("LEFT = "))
    Path("m").write_text(text.replace(row, row.replace("[1, ", "[0, ")))
    done = podium("prove", "trees.podium", "m", "--to", "python", "--proof", "proof.json")
    assert done.exit_code == 1
    assert "a split on another feature than f1" in done.stdout
    assert json.loads(Path("proof.json").read_text())["sums"]["seen"] is None


def test_a_foreign_model_is_imported_and_ranks(podium, tmp_path):
    Path("foreign.json").write_bytes(files()["catboost symmetric"])
    done = podium("import", "foreign.json", "-o", "m.podium")
    assert done.exit_code == 0, done.output
    assert "imported   catboost" in done.stdout
    Path("names.txt").write_bytes("prix unité\nâge\nclics\n".encode())
    assert podium("import", "foreign.json", "-o", "m.podium", "--features", "names.txt").exit_code == 0
    assert Model.load("m.podium").feature_names == ("prix unité", "âge", "clics")
    Path("names.txt").write_bytes(b"a\xff")
    assert "UTF-8" in podium("import", "foreign.json", "-o", "n.podium", "--features", "names.txt").stderr
    Path("rows.txt").write_text("0 qid:1 1:0.6 3:1\n0 qid:1 1:0.1 3:1\n")
    assert podium("rank", "m.podium", "rows.txt").stdout == "9.25\n6.25\n"
    assert podium("export", "m.podium", "--to", "xgboost", "-o", "m.json").exit_code == 0


def test_a_file_that_is_no_model_is_refused(podium, tmp_path):
    Path("x").write_bytes(b"\x80\x04\x95pickle")
    done = podium("import", "x", "-o", "m.podium")
    assert done.exit_code == 1
    assert "pickles are not read" in done.stderr
    assert podium("import", "nowhere", "-o", "m.podium").exit_code == 1


def test_a_foreign_model_is_a_row_of_a_comparison(podium, folder):
    Path("foreign.txt").write_text("## Coordinate Ascent\n1:0.5\n")
    assert podium("import", "foreign.txt", "-o", "m.podium", "--n-features", "5").exit_code == 0
    words = (
        "compare",
        str(folder),
        "--method",
        "model(file=m.podium)",
        "--method",
        "random",
        "-m",
        "ndcg@5",
        "-o",
        "out",
    )
    done = podium(*words)
    assert done.exit_code == 0, done.output
    row = next(line for line in done.stdout.splitlines() if line.startswith("model(file=m.podium)"))
    podium("rank", "m.podium", str(folder / "test.txt"), "-o", "scores.txt")
    alone = podium("evaluate", str(folder / "test.txt"), "scores.txt", "-m", "ndcg@5").stdout
    assert row.split()[1] in alone
    Path("foreign.txt").write_text("## Coordinate Ascent\n1:-0.5\n")  # another model under the same name
    podium("import", "foreign.txt", "-o", "m.podium", "--n-features", "5")
    assert row not in podium(*words).stdout.splitlines()


def test_text_features_are_defined_in_the_engines_language(podium, model):
    Path("names.txt").write_text("bm25(field=title)\nexact(field=body)\nstored(field=stars)\n")
    words = ("export", "linear.podium", "--to", "opensearch-ltr", "-o", "m.json", "--features", "names.txt")
    done = podium(*words, "--feature-set", "set.json")
    assert done.exit_code == 0, done.output
    found = json.loads(Path("set.json").read_text())["featureset"]["features"]
    assert [one["name"] for one in found] == ["bm25(field=title)", "exact(field=body)", "stored(field=stars)"]
    assert found[0]["template"] == {"match": {"title": "{{keywords}}"}}
    weights = json.loads(json.loads(Path("m.json").read_text())["model"]["model"]["definition"])
    assert list(weights) == [one["name"] for one in found], "the model's names are the set's"
    assert "no factor k1 + 1" in done.stdout
    assert "no factor k1 + 1" in Path("set.json.notes.txt").read_text()
    Path("names.txt").write_text("bm25(field=title)\nlsi\nstored(field=stars)\n")
    done = podium(*words[:4], "-o", "n.json", *words[6:], "--feature-set", "set2.json")
    assert done.exit_code == 1
    assert "no counterpart of 'lsi'" in done.stderr
    assert not Path("n.json").exists()


@pytest.mark.parametrize(
    ("target", "has"),
    [("elasticsearch-ltr", "lucene_phrase, bm25 and exact of"), ("solr", "lucene_length, bm25, exact and length of")],
)
def test_a_refusal_names_only_features_that_the_engine_has(target, has):
    with pytest.raises(
        IncompatibleError, match=f"no counterpart of 'lsi'\\. It has lucene_bm25, .*{has} a field, and stored"
    ):
        feature_set(["lsi"], target)


def test_solr_has_its_own_definitions():
    made = feature_set(["bm25(field=title)", "length(field=body)"], "solr", store="mine")
    assert json.loads(made.body) == made.definitions
    assert [one["class"].rpartition(".")[2] for one in made.definitions] == ["SolrFeature", "FieldLengthFeature"]
    assert {one["store"] for one in made.definitions} == {"mine"}


def test_a_model_of_solr_names_the_store_of_its_features(podium, model):
    Path("names.txt").write_text("bm25(field=title)\nexact(field=body)\nstored(field=stars)\n")
    for target, store in (("solr", "_DEFAULT_"), ("solr(store=mine)", "mine")):
        words = ("export", "linear.podium", "--to", target, "-o", "m.json", "--features", "names.txt")
        assert podium(*words, "--feature-set", "set.json").exit_code == 0
        assert {one["store"] for one in json.loads(Path("set.json").read_text())} == {store}
        assert json.loads(Path("m.json").read_text()).get("store", "_DEFAULT_") == store


def test_a_query_that_does_not_match_scores_zero_and_missing_numbers_stay_missing():
    names = ["lucene_bm25(field=title)", "stored(field=stars)"]
    [matched, _] = feature_set(names, "elasticsearch-ltr").definitions
    assert matched["template"]["bool"]["must"]["constant_score"]["boost"] == 0
    assert matched["template"]["bool"]["should"] == {"match": {"title": "{{keywords}}"}}
    for missing in (False, True):
        [_, stored] = feature_set(names, "solr", missing=missing).definitions
        assert stored["params"].get("defaultValue") == ("NaN" if missing else None)
