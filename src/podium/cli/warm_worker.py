"""Worker process of `podium warm`: runs commands on small data with machine code, which the disk cache keeps.

Standard input has lines of JSON, a list of commands each. An answer has the number of functions that were compiled for
them, and the errors of commands that failed.
"""

from __future__ import annotations

import contextlib
import io

from podium.base.json_process import Parent
from podium.cli.main import app
from podium.jit.compiled import counting_compilations


def main() -> None:
    """Run the commands of standard input."""
    parent = Parent()
    while True:
        commands, errors = parent.receive(), []
        with counting_compilations() as compiled:
            for command in commands:
                error = _run(command)
                if error:
                    errors.append(f"{' '.join(command[:1])}: {error}")
        parent.send(functions=len(compiled), errors=errors)


def _run(command: list[str]) -> str:
    """Run a command quietly; its error, or nothing."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):  # standard output goes nowhere
            app(command)
    except SystemExit as end:
        return said.getvalue().strip() if end.code else ""
    return ""


if __name__ == "__main__":
    main()
