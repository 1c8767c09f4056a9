"""Every regular expression of the package takes time in proportion to its text, also on text written to hurt it.

The patterns are found in the source, with the ways in which each is used. The texts repeat what a pattern itself is
made of, its characters one by one, in pairs and in words, after a beginning that it accepts and before an end that it
does not. A pattern that looks again and again at what it has seen takes several times as long as is allowed here, and
others a fifth of it.
"""

import ast
import importlib
import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import podium

ROOT = Path(podium.__file__).parent
LENGTHS, MILLISECONDS = (250, 6_000), 9
WAYS = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}


class Use(NamedTuple):
    where: str
    pattern: Any  # compiled, by re or regex
    way: str

    def milliseconds(self, text: str) -> float:
        """How long this text takes, the best of three."""
        subject = text.encode("utf-8", "replace") if isinstance(self.pattern.pattern, bytes) else text
        arguments = (subject[:0], subject) if self.way == "sub" else (subject,)
        times = []
        while not times or (len(times) < 3 and min(times) > MILLISECONDS):
            start = time.thread_time()
            result = getattr(self.pattern, self.way)(*arguments)
            if self.way == "finditer":
                list(result)
            times.append(1000 * (time.thread_time() - start))
        return min(times)


def uses(path: Path) -> Iterator[Use]:
    """Each regular expression in a file, in each way in which it is used."""
    text = path.read_text(encoding="utf-8")
    if "import re" not in text:  # nor regex
        return
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    owners = [(ast.unparse(call.func.value), call.func.attr) for call in calls]
    names = {id(node.value): ast.unparse(node.targets[0]) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    for call, (owner, way) in zip(calls, owners, strict=True):
        if owner in ("re", "regex") and way in WAYS | {"compile"}:
            name = names.get(id(call))
            ways = {way} & WAYS or {used for holder, used in owners if holder == name} & WAYS or {"match", "fullmatch"}
            for pattern in patterns(call, path):
                yield from (Use(f"{path.relative_to(ROOT)}:{call.lineno}", pattern, each) for each in sorted(ways))


def patterns(call: ast.Call, path: Path) -> list[Any]:
    """The patterns that a call makes, of constants and names of its module; else those that the module holds."""
    module = importlib.import_module(".".join([podium.__name__, *path.relative_to(ROOT).with_suffix("").parts]))
    flags = [word for word in map(ast.unparse, call.args[1:]) if word.startswith("re.") and hasattr(re, word[3:])]
    engine = importlib.import_module(call.func.value.id)
    try:
        text = eval(ast.unparse(call.args[0]), dict(vars(module)))
    except NameError:
        tables = [value for value in vars(module).values() if isinstance(value, dict)]
        held = [one for table in tables for one in (*table, *table.values()) if isinstance(one, re.Pattern)]
        assert held, f"{path}:{call.lineno}: make this pattern of constants, so that it can be timed"
        return held
    return [engine.compile(text, eval(" | ".join(flags) or "0"))]


def hostile(pattern: Any) -> Iterator[str]:
    """Long texts of a pattern's own characters and words."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    source = re.sub(r"\(\?(?:P<\w+>|<?[=!:>]|[a-zA-Z0-9]+[:)])|\\[a-zA-Z]", " ", source)
    words = sorted(set(re.findall(r"[\w<>/=:'\"!?{}-]{2,12}", source)), key=len)[-4:]
    signs = [sign for sign in dict.fromkeys(source) if not (sign.isalnum() or sign.isspace() or sign in "()|?*+\\^")]
    letters = ["1", "a", " ", "\n", *signs[:5]]
    units = [*letters, *map("".join, itertools.permutations(letters, 2)), *words]
    units += [word + letter for word in words for letter in letters]
    heads, ends = ["", *words, *letters[:1], *signs[:2]], ["\0", "x"]
    for length, unit, head, end in itertools.product(LENGTHS, units, heads, ends):
        yield head + unit * (length // len(unit)) + end


ALL = [use for path in sorted(ROOT.rglob("*.py")) if "testing" not in path.parts for use in uses(path)]


@pytest.mark.parametrize("use", ALL, ids=[f"{use.where}-{use.way}" for use in ALL])
def test_a_pattern_takes_time_in_proportion_to_its_text(use):
    for text in hostile(use.pattern):
        took = use.milliseconds(text)
        assert took < MILLISECONDS, f"{use}: {took:.0f} ms for {text[:20]!r}…{text[-3:]!r}, {len(text)} characters"


def test_patterns_that_look_again_and_again_are_noticed():
    for source, way in ((r"(\d+\.?\d*|\.\d+)x", "fullmatch"), (r"<a>(.*?)</a>", "findall"), (r" *x", "search")):
        use = Use("here", re.compile(source), way)
        assert any(use.milliseconds(text) > MILLISECONDS for text in hostile(use.pattern)), source
