"""The command line: one page for each command, with its arguments and options."""

from __future__ import annotations

from typing import Any

import typer

from podium.cli.main import PANELS, app

from .docstrings import as_markdown, first_sentence
from .markdown import block, code, escaped, page, table, toctree


def pages() -> dict[str, str]:
    """Pages of all commands, by path."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("podium", ["demo"], resilient_parsing=True)
    sections = []
    for panel, names in PANELS.items():
        rows = [
            [f"[{code(name)}](podium-{name}.md)", escaped(_summary(group.get_command(context, name)))] for name in names
        ]
        sections.append(f"## {panel}\n\n{table(['command', 'what it does'], rows)}")
    names = [name for own in PANELS.values() for name in own]
    index = page(
        "# Command line",
        as_markdown(group.help),
        *sections,
        "## Options of every command",
        _options(group, context),
        toctree(f"podium-{name}" for name in names),
    )
    return {"commands/index.md": index} | {
        f"commands/podium-{name}.md": _command(group.get_command(context, name), name, context) for name in names
    }


def _command(command: Any, name: str, parent: Any) -> str:
    context = command.context_class(command, parent=parent, info_name=name)
    inner = getattr(command, "commands", {})
    parts = [f"# podium {name}", _about(command, context)]
    for own, sub in inner.items():
        parts += [f"## podium {name} {own}", _about(sub, sub.context_class(sub, parent=context, info_name=own))]
    return page(*parts)


def _about(command: Any, context: Any) -> str:
    usage = " ".join([context.command_path, *_usage(command)])
    return page(as_markdown(command.help), block(usage), _options(command, context)).strip()


def _options(command: Any, context: Any) -> str:
    shown = [option for option in command.get_params(context) if not getattr(option, "hidden", False)]
    rows = [_row(option) for option in shown if option.name != "help"]
    return table(["argument or option", "value", "by default", "what it is"], rows) if rows else ""


def _usage(command: Any) -> list[str]:
    arguments = [option for option in command.params if option.param_type_name == "argument" and not option.hidden]
    inner = ["COMMAND"] if hasattr(command, "commands") else []
    return ["[OPTIONS]", *map(_word, arguments), *inner]


def _word(argument: Any) -> str:
    """How a usage line shows an argument: as the command says, else its name, with signs of many and of optional."""
    shown = argument.metavar or argument.name.upper()
    more = " …" if argument.nargs == -1 and not any(dots in shown for dots in ("…", "...")) else ""
    return f"{shown}{more}" if argument.required or argument.metavar else f"[{shown}{more}]"


def _row(option: Any) -> list[str]:
    """Names, value, default and help of an argument or option; what versions of typer call alike."""
    if option.param_type_name == "argument":
        names, value = [_word(option)], ""
    else:
        names, value = [*option.opts, *option.secondary_opts], "" if option.is_flag else option.metavar or "VALUE"
    more = " …" if option.multiple else ""
    return [
        ", ".join(map(code, names)) + more,
        code(value),
        "must be given" if option.required else _default(option),
        escaped(" ".join((option.help or "").split())),
    ]


def _default(option: Any) -> str:
    if isinstance(option.show_default, str):
        return escaped(option.show_default)
    if not option.show_default or option.default in (None, False, (), []) or callable(option.default):
        return ""
    return code(str(getattr(option.default, "value", option.default)))


def _summary(command: Any) -> str:
    return first_sentence(command.help)
