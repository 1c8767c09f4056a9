"""`podium train --base`: scores of another ranker that the model learns to add to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podium.data.table import Table


def with_base(base: str, training: Table, validation: Table | None) -> tuple[Table, Table | None]:
    """Both parts with base scores: those of a model, or of a file for the training data alone."""
    import zipfile

    from podium.base.errors import ParameterError
    from podium.formats.scores_file import read_scores
    from podium.model import Model

    if zipfile.is_zipfile(base):
        model = Model.load(base)
        parts = [part and part.with_base_scores(model.score(part)) for part in (training, validation)]
        assert parts[0] is not None
        return parts[0], parts[1]
    if validation is not None and validation.base_scores is None:
        raise ParameterError(
            f"--base {base}: the scores of the validation data are needed too. Write those of each data file next to "
            f"it, as {training.source}.init and {validation.source}.init, and leave --base out; or give a model."
        )
    return training.with_base_scores(read_scores(base, training)), validation
