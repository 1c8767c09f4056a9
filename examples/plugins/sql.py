"""SQL: a linear model as an expression over columns, for a table of candidates in a database."""

import re
import sqlite3

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import register
from podium.export.base import EngineScores, Target
from podium.export.exported_forms import Affine, ExportedForm
from podium.export.supported_form import Exportable

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_TERM = re.compile(rf'{_NUMBER} \* coalesce\("(\w+)", {_NUMBER}\)')


@register
class SQL(Target):
    """An expression of standard SQL: products of weights and columns in double precision; NULL is a missing value."""

    name = "sql"
    forms = (Affine,)
    single = False
    replay = 'sqlite3 candidates.db "SELECT id FROM candidates ORDER BY $(cat FILE) DESC"'

    def check(self, exportable: Exportable) -> None:
        for name in exportable.names:
            if not re.fullmatch(r"\w+", name):
                raise IncompatibleError(f"sql: {name!r} cannot be a column. Name features by letters, digits and _.")

    def write(self, exportable: Exportable) -> bytes:
        assert isinstance(exportable.form, Affine)
        columns = zip(exportable.form.weights.tolist(), exportable.names, exportable.form.missing.tolist(), strict=True)
        terms = [f'{weight!r} * coalesce("{name}", {missing!r})' for weight, name, missing in columns]
        return "\n + ".join([repr(exportable.form.offset), *terms]).encode()

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        offset, *terms = raw.decode().split("\n + ")
        found = [_TERM.fullmatch(term) for term in terms]
        if not re.fullmatch(_NUMBER, offset) or not all(found) or [term[2] for term in found if term] != list(names):
            raise ModelFileError("The file is not a sum of weighted columns, one for each feature. Export it again.")
        weights, missing = (np.array([float(term[k]) for term in found if term]) for k in (1, 3))
        return Affine(weights, float(offset), missing)

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> EngineScores:
        rows = [[None if np.isnan(value) else float(value) for value in row] for row in X]
        columns = ", ".join(f'"{name}"' for name in names)
        with sqlite3.connect(":memory:") as database:
            database.execute(f"CREATE TABLE candidates ({columns})")
            database.executemany(f"INSERT INTO candidates VALUES ({', '.join('?' * len(names))})", rows)
            scores = [row[0] for row in database.execute(f"SELECT {raw.decode()} FROM candidates ORDER BY rowid")]
        return EngineScores(np.array(scores), f"SQLite {sqlite3.sqlite_version}")
