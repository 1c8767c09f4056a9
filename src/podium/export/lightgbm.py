"""LightGBM's text model, for `lightgbm.Booster(model_file=…)` and the command `lightgbm`."""

from __future__ import annotations

import re

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import IncompatibleError, ModelFileError
from podium.base.registry import register
from podium.export.base import EngineScores, Target
from podium.export.exported_forms import ExportedForm
from podium.export.exported_trees import Trees
from podium.export.supported_form import Exportable
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

    def check(self, exportable: Exportable) -> None:
        assert exportable.form.forest is not None, "of its forms"
        threshold = exportable.form.forest.threshold
        inside = (threshold >= -TINY) & (threshold < TINY)
        if inside.any():
            raise IncompatibleError(
                f"{int(inside.sum())} splits are within ±1e-35, which LightGBM takes for 0. "
                "Export to xgboost, onnx, c or python, which keep small numbers as they are."
            )
        if any(set(name) & set(' \t\n\r=[]{}",:') for name in exportable.names):
            name = next(name for name in exportable.names if set(name) & set(' \t\n\r=[]{}",:'))
            raise IncompatibleError(
                f'LightGBM allows no space and none of =[]{{}}",: in {name!r}. '
                "Give other names (--features FILE, a name per line)."
            )

    def write_trees(self, exportable: Exportable, forest: Forest) -> bytes:
        text = write_forest(expand(forest)).decode()
        names = _plain_names(forest.n_features)
        text = text.replace(f"\n{names}\n", f"\nfeature_names={' '.join(exportable.names)}\n", 1)
        return (text + "\nparameters:\nend of parameters\n\npandas_categorical:null\n").encode()

    def read(self, raw: bytes, names: tuple[str, ...]) -> ExportedForm:
        form = read_lightgbm(raw).form
        assert isinstance(form, Forest)
        return Trees(split_exactly(form))

    def run(self, raw: bytes, X: Singles, names: tuple[str, ...]) -> EngineScores | None:
        import lightgbm

        try:  # LightGBM's reader trusts its input
            plain = re.sub(r"\nfeature_names=[^\n]*\n", f"\n{_plain_names(len(names))}\n", raw.decode(), count=1)
            lightgbm_text.check(lightgbm_text.trim(plain), len(names))
        except ModelFileError:
            return None
        booster = lightgbm.Booster(model_str=raw.decode())
        scores = booster.predict(X, raw_score=True, num_threads=1)
        return EngineScores(np.asarray(scores, np.float64), f"LightGBM {lightgbm.__version__}")


def _plain_names(n_features: int) -> str:
    return "feature_names=" + " ".join(f"Column_{l}" for l in range(n_features))
