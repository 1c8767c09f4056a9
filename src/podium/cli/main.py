"""`podium`: the command line, and how it reports errors.

An error is one line on standard error. Exit codes: 1 failed, 2 misused, 130 interrupted.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from podium.base.errors import ParameterError, PodiumError, shortened
from podium.base.familiar_names import announced
from podium.base.plugin_files import add_plugin, place_in_plugin
from podium.base.registry import load_plugins
from podium.cli import console

HELP = """Learning to rank: train, rank, evaluate and compare.

Start with `podium demo`; `podium COMMAND --help` explains a command."""


PANELS = {
    "Start": ("demo", "methods"),
    "Learn": ("check", "train", "select", "rank", "explain", "importance", "aggregate"),
    "Evaluate": ("evaluate", "compare", "similarity", "curve", "reconcile", "calibration"),
    "Search": ("index", "search", "features", "ask"),
    "Clicks and judges": ("clicks", "judges", "rate", "value", "interleave"),
    "Production": ("serve", "feedback", "export", "prove", "push", "import", "cache", "warm"),
}
"""Commands by panel of the help text. Each is the function, or the group, of its name in the module of its name."""
HOMES = {"import": ("import_", "import_model"), "prove": ("export", "prove")}
"""Module and function of commands with other names; `import` is a keyword of Python."""


class _Parts(Mapping[str, Any]):
    """Commands by name; the module of a command is imported when it is asked for, for a quick start."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return (name for names in PANELS.values() for name in names)

    def __len__(self) -> int:
        return sum(map(len, PANELS.values()))


@functools.cache
def _command(name: str) -> Any:
    panel = next((panel for panel, names in PANELS.items() if name in names), None)
    if panel is None:
        raise KeyError(name)
    home, function = HOMES.get(name, (name, name))
    module = importlib.import_module(f"podium.cli.{home}")
    if hasattr(module, "app"):
        group: Any = typer.main.get_group(module.app)
        group.rich_help_panel = panel
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name, rich_help_panel=panel)(getattr(module, function))
    return typer.main.get_command(alone)


class Commands(TyperGroup):
    """The group of commands; reports errors in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Parts()  # type: ignore[assignment]

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        console.printable(sys.stdout)
        words = list(sys.argv[1:] if args is None else args)
        own = words[: words.index("--")] if "--" in words else words
        debug = "--debug" in own  # understood after the command as well, as --plugin is
        plugins, rest = _taken_out(own, "--plugin")
        words = plugins + [word for word in rest if word != "--debug"] + words[len(own) :]
        try:
            code = super().main(words, "podium", complete_var, False, windows_expand_args, **extra)
        except BaseException as error:
            if debug and isinstance(error, Exception):
                raise
            code = report(error)
        raise SystemExit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:  # typer would handle these exceptions otherwise
            with announced(lambda note: console.say(f"note: {note}")), console.printed_warnings():
                result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            console.say("podium: interrupted.")
            raise SystemExit(130) from None
        except BrokenPipeError:  # stdout was closed early, e.g. by `head`
            console.discard_output()
            raise SystemExit(141) from None


app = typer.Typer(
    cls=Commands,
    help=HELP,
    add_completion=False,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py",
            help="A Python file with custom losses, metrics, features, methods …; may be repeated. Or set the "
            "environment variable PODIUM_PLUGINS.",
        ),
    ] = None,
) -> None:
    for path in plugin or ():
        add_plugin(path)
    if plugin:
        load_plugins()
    if version:
        from podium.base.version import version as installed

        console.out(f"podium {installed()}")
    elif ctx.invoked_subcommand is None:
        console.out(ctx.get_help())


def _taken_out(words: Sequence[str], option: str) -> tuple[list[str], list[str]]:
    """An option with its values, wherever it stands, and the other words."""
    taken: list[str] = []
    rest: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word == option:
            taken += [word, *([value] if (value := next(waiting, None)) is not None else [])]
        else:
            (taken if word.startswith(f"{option}=") else rest).append(word)
    return taken, rest


def report(error: BaseException) -> int:
    """Print an error in one line. Returns the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, PodiumError):
        line, code = str(error), 2 if isinstance(error, ParameterError) else 1
    elif hasattr(error, "format_message"):  # a usage error of typer or click
        path = getattr(getattr(error, "ctx", None), "command_path", "podium")
        message = error.format_message().rstrip()
        line, code = f"{message}{'' if message.endswith(('.', '?')) else '.'} See: {path} --help", 2
    elif isinstance(error, OSError) and error.strerror is not None:
        where = "cannot write: " if error.filename is None else f"{error.filename}: "
        line, code = f"{where}{error.strerror}.", 1
    elif (place := place_in_plugin(error)) is not None:
        line, code = f"{place}: {type(error).__name__}: {error} (the traceback: add --debug)", 1
    else:
        line, code = f"internal error: {type(error).__name__}: {error} (the traceback: add --debug)", 1
    try:
        sys.stdout.flush()
    except OSError:  # a full disk: the same error would come again, at the exit too
        console.discard_output()
    console.say("podium: " + shortened(" ".join(line.split())))
    return code


def main() -> None:
    """Run the command line."""
    gc.set_threshold(100_000)  # imports make many objects and no garbage: collecting takes a fifth of the start
    console.open_streams()
    if not os.environ.get("TERMINAL_WIDTH", "80").isdigit():
        del os.environ["TERMINAL_WIDTH"]  # typer would fail to convert it
    try:
        app()
    finally:
        gc.freeze()  # skips the last garbage collection, a fifth of the time
