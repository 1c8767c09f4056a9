"""Splits and folders: whole queries, the same for the same seed."""

from pathlib import Path

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.data import Dataset, k_folds, make_letor_like, split, to_frame
from podium.data.splits import LEAST_DECIDING, deciding, hold_out
from podium.formats import read_folder, write_letor

OHSUMED = Path(__file__).parents[3] / "../shared/data/OHSUMED"


def queries(data: Dataset) -> dict[str, list[str]]:
    documents = np.split(data.document_ids, data.offsets[1:-1])
    return {data.query_name(q): documents[q].tolist() for q in range(data.n_queries)}


def test_a_split_deals_out_whole_queries():
    data, _ = make_letor_like(50, (1, 8))
    parts = split(data, (0.5, 0.3, 0.2), seed=3)
    assert [part.n_queries for part in parts] == [25, 15, 10]
    together = {name: documents for part in parts for name, documents in queries(part).items()}
    assert together == queries(data)


def test_the_seed_decides_the_split():
    data, _ = make_letor_like(30)
    digests = [[part.digest() for part in split(data, seed=seed)] for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


def test_no_part_is_empty_where_there_are_queries_enough():
    data, _ = make_letor_like(3)
    assert [part.n_queries for part in split(data, (0.98, 0.01, 0.01))] == [1, 1, 1]
    with pytest.raises(DataError, match="2 queries cannot be split into 3 parts"):
        split(make_letor_like(2)[0])


@pytest.mark.parametrize("fractions", [(0.5, 0.4), (1.5, -0.5), ()])
def test_fractions_must_be_positive_and_add_up_to_1(fractions):
    with pytest.raises(ParameterError, match="add up to 1"):
        split(make_letor_like(5)[0], fractions)


def test_each_query_is_held_out_once():
    data, _ = make_letor_like(23)
    folds = k_folds(data, 5, seed=1)
    assert sorted(fold.test.n_queries for fold in folds) == [4, 4, 5, 5, 5]
    for fold, after in zip(folds, [*folds[1:], folds[0]], strict=True):
        assert queries(fold.train) | queries(fold.valid) | queries(fold.test) == queries(data)
        assert fold.train.n_queries + fold.valid.n_queries + fold.test.n_queries == 23
        assert queries(fold.valid) == queries(after.test)
    assert sorted(name for fold in folds for name in queries(fold.test)) == sorted(queries(data))
    with pytest.raises(ParameterError, match="k ≥ 3"):
        k_folds(data, 2)


def test_folds_are_read_in_the_order_of_their_numbers(tmp_path):
    train, vali, test = split(make_letor_like(12)[0])
    for k in (1, 2, 10):
        folder = tmp_path / f"Fold{k}"
        folder.mkdir()
        for name, part in (("train.txt", train), ("vali.txt", vali), ("test.txt", test)):
            write_letor(part, folder / name)
    folds = read_folder(tmp_path)
    assert [fold.name for fold in folds] == ["Fold1", "Fold2", "Fold10"]
    assert folds[2].train.digest() == train.digest()
    assert folds[2].valid.digest() == vali.digest()
    assert folds[2].test.digest() == test.digest()


def test_one_fold_of_parts_in_other_formats_and_names(tmp_path):
    train, vali, _ = split(make_letor_like(12)[0])
    write_letor(train, tmp_path / "train.letor.gz")
    write_letor(vali, tmp_path / "valid.svm")
    (fold,) = read_folder(tmp_path)
    assert fold.train.digest() == train.digest()
    assert fold.valid.digest() == vali.digest()
    assert fold.test is None


def test_tables_make_a_fold_too(tmp_path):
    train, _, test = split(make_letor_like(12)[0])
    to_frame(train).to_csv(tmp_path / "train.csv", index=False)
    to_frame(test).to_parquet(tmp_path / "test.parquet")
    (fold,) = read_folder(tmp_path)
    assert np.array_equal(fold.train.labels, train.labels)
    assert np.array_equal(fold.test.features, test.features)


def test_parts_that_do_not_mention_the_last_features_are_widened(tmp_path):
    (tmp_path / "train.txt").write_text("1 qid:1 1:1 3:1\n")
    (tmp_path / "test.txt").write_text("1 qid:2 1:5\n")
    (fold,) = read_folder(tmp_path)
    assert fold.test.features.tolist() == [[5, 0, 0]]


def test_one_file_is_split_by_query_with_the_seed(tmp_path):
    data, _ = make_letor_like(10)
    write_letor(data, tmp_path / "all.txt")
    (fold,) = read_folder(tmp_path / "all.txt", seed=4)
    expected = split(data, seed=4)
    assert [fold.train.digest(), fold.valid.digest(), fold.test.digest()] == [part.digest() for part in expected]


def test_what_was_looked_for_and_found_is_said(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read_folder(tmp_path / "none")
    (tmp_path / "readme.md").write_text("hello")
    with pytest.raises(DataError, match=r"no training data: looked for train.txt .* found readme.md"):
        read_folder(tmp_path)
    (tmp_path / "train.txt").write_text("1 qid:1 1:1\n")
    (tmp_path / "train.csv").write_text("qid,label,x\n1,1,1\n")
    with pytest.raises(DataError, match=r"more than one file of train data: train.csv, train.txt"):
        read_folder(tmp_path)


@pytest.mark.skipif(not OHSUMED.exists(), reason="needs the LETOR data beside the checkout")
def test_ohsumed_has_five_folds_of_the_same_106_queries():
    folds = read_folder(OHSUMED)
    assert len(folds) == 5
    for fold in folds:
        assert fold.train.n_queries + fold.valid.n_queries + fold.test.n_queries == 106
        assert fold.train.n_features == fold.test.n_features == 45


def _rows_shuffled(data: Dataset, seed: int) -> Dataset:
    rows = np.random.default_rng(seed).permutation(data.n_documents)
    return Dataset.from_arrays(
        data.features[rows], data.labels[rows], qid=data.query_ids[data.query_index][rows]
    ).grouped()


def test_held_out_queries_do_not_depend_on_the_order_of_rows() -> None:
    data, _ = make_letor_like(50, seed=3)
    for seed in (0, 1):
        parts = [hold_out(each, 0.2, seed=seed)[1] for each in (data, _rows_shuffled(data, 9))]
        names = [set(map(str, part.query_ids)) for part in parts]
        assert names[0] == names[1]
        assert len(names[0]) == 10
    assert {*hold_out(data, seed=0)[1].query_ids} != {*hold_out(data, seed=1)[1].query_ids}


def test_held_out_and_other_queries_are_the_whole_data() -> None:
    data, _ = make_letor_like(50, seed=3)
    training, held = hold_out(data, 0.3)
    assert sorted([*training.query_ids, *held.query_ids]) == sorted(data.query_ids)
    assert training.n_documents + held.n_documents == data.n_documents


def test_queries_without_relevant_documents_do_not_crowd_out_those_that_decide() -> None:
    labels = np.zeros((100, 3))
    labels[:20, 0] = 1.0
    data = Dataset.from_arrays(np.zeros((300, 1)), labels.ravel(), group=[3] * 100).grouped()
    training, held = hold_out(data, 0.2)
    assert (deciding(held).sum(), held.n_queries) == (4, 20)
    assert deciding(training).sum() == 16


@pytest.mark.parametrize(("fraction", "count"), [(0.01, 2), (0.2, 2), (0.99, 8)])
def test_at_least_two_deciding_queries_are_in_each_part(fraction: float, count: int) -> None:
    data, _ = make_letor_like(LEAST_DECIDING, seed=3)
    assert deciding(data).all()
    assert hold_out(data, fraction)[1].n_queries == count


def test_too_few_queries_are_not_split() -> None:
    data, _ = make_letor_like(LEAST_DECIDING - 1, seed=3)
    training, held = hold_out(data)
    assert held is None
    assert training.n_queries == LEAST_DECIDING - 1


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, 20, float("nan")])
def test_a_fraction_to_hold_out_is_between_0_and_1(fraction: float) -> None:
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        hold_out(make_letor_like(20, seed=3)[0], fraction)
