"""LightGBM's own text, which `lightgbm.Booster(model_file=…)` and `lightgbm` on the command line read."""

from __future__ import annotations

import re

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import register
from podium.export.base import Ran, Target
from podium.export.exported_forms import ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Handover
from podium.imports.lightgbm import read_lightgbm
from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.exact_splits import expand, split_exactly
from podium.scorers.trees.forest import TINY, Forest
from podium.scorers.trees.lightgbm_text import write_forest


@register
class LightGBM(Target):
    """LightGBM 4: x ≤ threshold, added up in float64, podium's scores to the bit. Trees only."""

    name = "lightgbm"
    forms = (Trees,)
    single = False
    takes_infinite = True
    replay = "python -c 'import lightgbm; b = lightgbm.Booster(model_file=\"FILE\"); …b.predict(…)'"

    def check(self, given: Handover) -> None:
        assert given.form.forest is not None, "of its forms"
        threshold = given.form.forest.threshold
        inside = (threshold >= -TINY) & (threshold < TINY)
        if inside.any():
            raise IncompatibleError(
                f"{int(inside.sum())} splits lie within ±1e-35, which LightGBM takes for 0. "
                "Export to xgboost, onnx, c or python, which keep small numbers as they are."
            )
        if any(set(name) & set(' \t\n\r=[]{}",:') for name in given.names):
            name = next(name for name in given.names if set(name) & set(' \t\n\r=[]{}",:'))
            raise IncompatibleError(
                f'LightGBM allows no space and none of =[]{{}}",: in {name!r}. '
                "Give other names (--features FILE, a name per line)."
            )

    def write_trees(self, given: Handover, forest: Forest) -> bytes:
        text = write_forest(expand(forest)).decode()
        names = _plain_names(forest.n_features)
        text = text.replace(f"\n{names}\n", f"\nfeature_names={' '.join(given.names)}\n", 1)
        return (text + "\nparameters:\nend of parameters\n\npandas_categorical:null\n").encode()

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        found = read_lightgbm(raw)
        assert isinstance(found.form, Forest)
        return Trees(split_exactly(found.form))

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> Ran | None:
        import lightgbm

        try:  # its reader trusts what it gets
            plain = re.sub(r"\nfeature_names=[^\n]*\n", f"\n{_plain_names(len(names))}\n", raw.decode(), count=1)
            lightgbm_text.check(lightgbm_text.trim(plain), len(names))
        except ModelFileError:
            return None
        booster = lightgbm.Booster(model_str=raw.decode())
        scores = booster.predict(X, raw_score=True, num_threads=1)
        return Ran(np.asarray(scores, np.float64), f"LightGBM {lightgbm.__version__}")


def _plain_names(n_features: int) -> str:
    return "feature_names=" + " ".join(f"Column_{l}" for l in range(n_features))
