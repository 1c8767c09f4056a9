"""Help of all commands: nothing of it is taken for markup and lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from rich.text import Text

from podium.cli.main import app


def helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command, of its options and arguments, and of the commands below it."""
    yield name, command.help or ""
    for param in command.params:
        yield f"{name} {param.name}", getattr(param, "help", None) or ""
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for word in command.list_commands(context):
            yield from helps(command.get_command(context, word), f"{name} {word}")


def test_no_bracket_of_a_help_text_is_swallowed_as_markup() -> None:
    """Versions of typer differ in what they take for markup, so that square brackets are best left out."""
    texts = dict(helps(typer.main.get_command(app), "podium"))
    assert len(texts) > 300
    assert {place: text for place, text in texts.items() if Text.from_markup(text).plain != text} == {}
