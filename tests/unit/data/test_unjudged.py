"""Documents without a label (NaN): left out of training, unjudged in evaluation, kept in files."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import podium
from podium.base.errors import DataError, PodiumWarning
from podium.base.shown import frame_of
from podium.data.dataset import Dataset
from podium.data.frames import from_frame, to_frame
from podium.formats.letor.letor import write_letor
from podium.formats.tables.table_spool import spool_table
from podium.testing import linear_data

DATA = linear_data(20, 8)
HIDE = np.random.default_rng(0).random(DATA.n_documents) < 0.3
HIDE[8:16] = True  # a whole query
PART = replace(DATA, labels=np.where(HIDE, np.nan, DATA.labels))


def test_judged_documents_are_those_with_a_label():
    judged = PART.judged()
    np.testing.assert_array_equal(judged.features, DATA.features[~HIDE])
    np.testing.assert_array_equal(judged.labels, DATA.labels[~HIDE])
    assert judged.n_queries == 19
    assert judged.sizes.sum() == (~HIDE).sum()
    assert DATA.judged() is DATA
    assert PART.n_unjudged == HIDE.sum()
    assert f"labels 0 to 2, {HIDE.sum()} not judged" in repr(PART)


@pytest.mark.parametrize("method", ["listnet", "lambdamart(rounds=4,min_data_in_leaf=2)", "prank"])
def test_training_leaves_them_out_and_says_how_many(method):
    model, judged = podium.train(PART, method), podium.train(PART.judged(), method)
    assert model.score(DATA).tobytes() == judged.score(DATA).tobytes()
    assert model.info["unjudged"] == HIDE.sum()
    assert "unjudged" not in judged.info


def test_validation_data_is_judged_too():
    plain, part = (podium.train(DATA, "listnet", valid=data) for data in (PART.judged(), PART))
    assert plain.info["valid"] == part.info["valid"]


def test_evaluation_takes_them_for_unjudged():
    scores = np.random.default_rng(1).normal(size=DATA.n_documents)
    qrels = {str(q): {} for q in range(20)}
    run = {str(q): {} for q in range(20)}
    for row, (q, label) in enumerate(zip(PART.query_index, PART.labels, strict=True)):
        run[str(q)][f"d{row}"] = scores[row]
        if not np.isnan(label):
            qrels[str(q)][f"d{row}"] = label
    metrics = ["ndcg@10", "bpref", "map"]
    expected = podium.evaluate_run({q: grades for q, grades in qrels.items() if grades}, run, metrics)
    for metric in metrics:
        values = podium.evaluate(PART, scores, metrics)
        assert values.means()[metric].value == pytest.approx(expected.means()[metric].value)


def test_files_keep_them(tmp_path):
    write_letor(PART, tmp_path / "part.txt")
    assert (tmp_path / "part.txt").read_text().splitlines()[8].startswith("nan qid:")
    np.testing.assert_array_equal(podium.read_data(tmp_path / "part.txt").labels, PART.labels)
    np.testing.assert_array_equal(
        podium.read_data(BytesIO(b"1 qid:1 1:1\nNaN qid:1 1:2\n0 qid:2 1:1\n")).labels, [1, np.nan, 0]
    )


def test_arrays_with_missing_labels_warn_with_their_number():
    """A gap in an array may be an accident; `nan` in a file, or `replace(data, labels=…)`, is on purpose."""
    with pytest.warns(PodiumWarning, match=r"^2 of 3 labels are missing, the first in row 1: .* not judged"):
        data = Dataset.from_arrays(np.eye(3), [0, np.nan, None])
    assert data.n_unjudged == 2
    with pytest.raises(DataError, match=r"row 1: label inf is not a finite number"):
        Dataset.from_arrays(np.eye(2), [0, np.inf])
    with pytest.raises(DataError, match="no row has a label"):
        Dataset.from_arrays(np.eye(2), [np.nan, None])


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_with_missing_labels_train_like_files_with_nan(backend):
    frame = to_frame(PART, backend=backend)
    with pytest.warns(PodiumWarning, match=f"{PART.n_unjudged} of {PART.n_documents} labels are missing"):
        model = podium.train(frame, "ranknet")
    assert model.info["unjudged"] == PART.n_unjudged
    np.testing.assert_array_equal(model.score(PART), podium.train(PART, "ranknet").score(PART))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_column_of_labels_without_any_is_an_error(backend):
    frame = frame_of({"qid": [1, 1], "label": [None, None], "x": [0.5, 1.0]}, backend)
    with pytest.raises(DataError, match="no row has a label"):
        from_frame(frame)


def test_tables_with_missing_labels_are_read_whole_and_as_a_stream(tmp_path):
    table = pa.table({"qid": [1, 1, 2], "label": pa.array([1, None, 0]), "x": [0.5, 1.0, 2.0]})
    pq.write_table(table, tmp_path / "part.parquet", row_group_size=1)  # a part without any label is no error
    (tmp_path / "part.csv").write_text("qid,label,x\n1,1,0.5\n1,,1.0\n2,0,2.0\n")
    for file in ("part.parquet", "part.csv"):
        with pytest.warns(PodiumWarning, match=rf"{file}: 1 of 3 labels are missing, the first in row 1"):
            np.testing.assert_array_equal(podium.read_data(tmp_path / file).labels, [1, np.nan, 0])
    with pytest.warns(PodiumWarning, match="1 of 3 labels are missing"):
        spooled = spool_table(tmp_path / "part.parquet", tmp_path)
    np.testing.assert_array_equal(spooled.labels, [1, np.nan, 0])


def test_metrics_of_arrays_take_missing_labels_for_unjudged():
    labels = np.array([1.0, np.nan, 0.0])
    with pytest.warns(PodiumWarning, match="1 of 3 labels are missing"):
        arrays = podium.evaluate(labels, [1.0, 2.0, 3.0], "ndcg@10", group=[3])
    data = replace(Dataset.from_arrays(np.eye(3), [1, 0, 0]), labels=labels)
    assert arrays.values.tolist() == podium.evaluate(data, [1.0, 2.0, 3.0], "ndcg@10").values.tolist()


def test_preferences_and_documents_without_label_are_refused():
    with pytest.raises(DataError, match="Give every document a label"):
        PART.with_preferences([0], [1]).judged()


def test_the_doctor_looks_at_judged_documents():
    assert [finding.code for finding in podium.check(PART)] == [finding.code for finding in podium.check(PART.judged())]
