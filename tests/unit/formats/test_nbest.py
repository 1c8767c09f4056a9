import gzip
import io

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.formats.bleu import sentence_bleu
from podium.formats.nbest import read_nbest
from podium.training import train

LISTS = """\
0 ||| das ist ein haus ||| LM0= -4.5 TM0= -1 -2 WordPenalty0= -4 ||| -3.25 ||| 0-0 1-1
0 ||| this is a house ||| LM0= -3.5 TM0= -1.5 -2.5 WordPenalty0= -4 ||| -3.5
1 ||| hello ||| LM0= -1 TM0= -1 -1 WordPenalty0= -1 pp_hallo= 1 ||| -1
"""


def read(text, **options):
    return read_nbest(io.BytesIO(text.encode()), **options)


def references(*texts):
    return [io.BytesIO(text.encode()) for text in texts]


def test_a_line_is_a_translation_with_the_decoders_features():
    data = read(LISTS)
    assert data.feature_names == ("LM0", "TM0.1", "TM0.2", "WordPenalty0", "pp_hallo", "score")
    np.testing.assert_array_equal(
        data.features, [[-4.5, -1, -2, -4, 0, -3.25], [-3.5, -1.5, -2.5, -4, 0, -3.5], [-1, -1, -1, -1, 1, -1]]
    )
    assert data.query_ids.tolist() == ["0", "1"]
    assert data.offsets.tolist() == [0, 2, 3]
    assert data.document_ids.tolist() == ["1", "2", "1"]
    assert data.comments.tolist() == ["das ist ein haus", "this is a house", "hello"]
    assert data.labels is None


def test_labels_are_bleu_against_all_references():
    data = read(LISTS, references=references("this is a house\nhi\n", "that is one house\nhello\n"))
    expected = [
        sentence_bleu("das ist ein haus", ["this is a house", "that is one house"]),
        1.0,
        sentence_bleu("hello", ["hi", "hello"]),
    ]
    np.testing.assert_allclose(data.labels, expected)
    assert data.labels[0] < data.labels[1]


def test_labels_are_turned_ranks():
    assert read(LISTS, ranks=[2, 1, 1]).labels.tolist() == [0.0, 1.0, 0.0]


def test_older_decoders_end_names_with_a_colon():
    data = read("7 ||| a ||| d: 0 -1 lm: -2 ||| -3\n")
    assert data.feature_names == ("d.1", "d.2", "lm", "score")
    assert data.features.tolist() == [[0, -1, -2, -3]]


def test_files_may_be_compressed_and_have_blank_lines(tmp_path):
    path = tmp_path / "lists.gz"
    path.write_bytes(gzip.compress(("\n" + LISTS + "\n\n").encode()))
    assert read_nbest(path).n_documents == 3


def test_a_translation_may_be_empty():
    assert read("0 |||  ||| LM0= 0 ||| 0\n", references=references("a\n")).labels.tolist() == [0.0]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("0 ||| a ||| LM0= 1", r":4: expected sentence \|\|\| translation .* got 3 of these 4 parts"),
        ("||| a ||| LM0= 1 ||| 2", ":4: no number of the sentence"),
        ("2 ||| a ||| LM0= x ||| 2", ":4: expected a finite number, got 'x'"),
        ("2 ||| a ||| LM0= nan ||| 2", ":4: expected a finite number, got 'nan'"),
        ("2 ||| a ||| LM0= 1 ||| two", ":4: expected a finite number, got 'two'"),
        ("2 ||| a ||| 1 LM0= 1 ||| 2", ":4: expected the name of a feature, such as LM0=, before '1'"),
        ("2 ||| a ||| LM0= TM0= 1 ||| 2", ":4: feature LM0 has no value"),
        ("2 ||| a ||| LM0= 1 LM0= 2 ||| 2", ":4: feature LM0 is there twice"),
        ("2 ||| a ||| score= 1 ||| 2", ":4: feature score is there twice"),
        ("2 ||| a ||| = 1 ||| 2", ":4: expected the name of a feature before '='"),
        ("2 ||| a ||| TM0= 1 2 3 ||| 2", ":4: feature TM0 has 3 values here and 2 before"),
        ("0 ||| a ||| LM0= 1 ||| 2", ":4: sentence 0 was there before"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, says):
    path = tmp_path / "lists.txt"
    path.write_text(LISTS + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"lists.txt{says}"):
        read_nbest(path)


def test_what_is_no_text_is_named():
    with pytest.raises(DataError, match=":1: not UTF-8"):
        read_nbest(io.BytesIO(b"0 ||| \xff ||| LM0= 1 ||| 2\n"))
    with pytest.raises(DataError, match="not UTF-8"):
        read(LISTS, references=[io.BytesIO(b"\xff\n\n")])
    with pytest.raises(DataError, match="no translations"):
        read("\n")


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match=r":3: sentence 1 has no reference: .* has 1 lines, the first for sentence 0"):
        read(LISTS, references=references("this is a house\n"))
    with pytest.raises(DataError, match=r"2 lines, but .* has 1"):
        read(LISTS, references=references("a\n", "a\nb\n"))
    with pytest.raises(DataError, match="at least one file of references"):
        read(LISTS, references=[])
    with pytest.raises(DataError, match=":1: with references a sentence is a line number from 0; got 'x'"):
        read("x ||| a ||| LM0= 1 ||| 2\n", references=references("a\n"))
    with pytest.raises(DataError, match=r"3 translations need as many ranks, all finite; got shape \(2,\)"):
        read(LISTS, ranks=[1, 2])
    with pytest.raises(DataError, match="references or from ranks; got both"):
        read(LISTS, ranks=[1, 2, 1], references=references("a\nb\n"))


def test_splitting_finds_the_weights_that_ranked_generated_lists():
    rng = np.random.default_rng(0)
    truth = np.array([1.0, 0.5, -0.5])
    lines, ranks = [], []
    for sentence in range(40):
        X = np.round(rng.standard_normal((50, 3)), 3)
        ranks += (np.argsort(np.argsort(-X @ truth)) + 1).tolist()
        lines += [f"{sentence} ||| t{k} ||| LM0= {x[0]} TM0= {x[1]} {x[2]} ||| 0\n" for k, x in enumerate(X)]
    data = read("".join(lines), ranks=ranks)
    model = train(data, "splitting(margin=100)", seed=1)
    w = model.score(data.with_features(np.eye(4, dtype=np.float32)[[*range(4)] * 500], data.feature_names))[:4]
    slopes = w[:3] - w[3]  # the last feature is the same everywhere
    assert slopes @ truth / np.linalg.norm(slopes) / np.linalg.norm(truth) > 0.99
