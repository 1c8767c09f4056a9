"""Files of base scores: a number per row of a data file, next to it as `<file>.init` or `<file>.base_margin`.

The names are those of LightGBM and XGBoost, which begin from such scores. A trained model's own scores are what is
added to them.
"""

from __future__ import annotations

import numpy as np

from podium.base.errors import DataError
from podium.base.files import Source, writing
from podium.data.table import Table
from podium.formats.scores_file import read_scores


def read_base_scores(source: Source, data: Table) -> Table:
    """Add the base scores of a file to data; the number of lines must be that of the rows."""
    return data.with_base_scores(read_scores(source, data))


def write_base_scores(data: Table, target: Source) -> None:
    """Write the base scores of a dataset, with digits that read back as the same numbers."""
    if data.base_scores is None:
        raise DataError("this data has no base scores.", where=data.source)
    with writing(target) as file:
        file.write("".join(f"{score!r}\n" for score in np.asarray(data.base_scores).tolist()).encode())
