"""An analyser for program text: parseLetorFile and parse_letor_file have the same three words."""

import re

from podium.base.registry import register
from podium.text.analyser import Analyser

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


@register
class Identifiers(Analyser):
    """Words as of the usual analyser, after names in camel case and snake case are cut at their borders."""

    name = "identifiers"

    def uncut(self, text: str) -> list[str]:
        return super().uncut(_BORDER.sub(" ", text))
