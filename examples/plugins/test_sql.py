from dataclasses import replace

import numpy as np
import pytest
from sql import SQL

from podium.base.errors import IncompatibleError, ModelFileError
from podium.data import make_letor_like
from podium.export import prove
from podium.testing.names import text_gives_it_back
from podium.training import train

DATA, _ = make_letor_like(20, (4, 8), n_features=5, seed=1)
MODEL = train(DATA, "regression")
NAMES = ("a", "b", "c", "d", "e")


def test_its_text_gives_it_back():
    text_gives_it_back(SQL())


def test_a_linear_model_is_proven_and_sqlite_gives_its_scores():
    given = SQL().accept(MODEL, names=NAMES)
    raw = SQL().write(given)
    assert prove(given, raw, SQL()).holds
    ran = SQL().run(raw, DATA.features, NAMES)
    assert ran.scores - SQL().constant(given) == pytest.approx(MODEL.score(DATA), abs=1e-6)


def test_a_file_with_another_weight_is_not_proven():
    given = SQL().accept(MODEL, names=NAMES)
    wrong = replace(given.form, weights=given.form.weights * np.array([1, 1, 1.01, 1, 1]))
    assert not prove(given, SQL().write(replace(given, form=wrong)), SQL()).holds


def test_what_is_no_sum_of_columns_is_refused():
    given = SQL().accept(MODEL, names=NAMES)
    for raw in (b"1.0\n + 1; DROP TABLE candidates", b"", SQL().write(replace(given, names=NAMES[::-1]))):
        with pytest.raises(ModelFileError, match="Export it again"):
            SQL().read(raw, NAMES)
    with pytest.raises(IncompatibleError, match="cannot be a column"):
        SQL().accept(MODEL, names=('a"', "b", "c", "d", "e"))
    with pytest.raises(IncompatibleError, match="sql"):
        SQL().accept(train(DATA, "lambdamart"))
