"""Machine judges: rows of a sheet go to a command or to a chat model over HTTP, and grades come back.

Answers are lines of JSON in the output file, each with the hash of what was asked: a run that was killed goes on where
it stopped, and a row is asked again only if its texts, the model, the prompt or the temperature changed. The judge's
name holds these: machine:MODEL/prompt-DIGEST/t0. Keys come from the environment and are never written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from podium.base.appended_lines import cut_partial_line, is_continued
from podium.base.errors import DataError
from podium.base.files import claimed

PROMPT = """Query: {{query}}

Document: {{document}}

How relevant is the document to the query? Answer with one of these grades alone: {{grades}} (the last is best).
"""
"""The prompt by default."""


@dataclass(frozen=True)
class Question:
    """A document to grade for a query."""

    query: str
    document: str
    query_text: str
    document_text: str


@dataclass(frozen=True)
class Machine:
    """What is asked: its model, prompt, temperature and grades."""

    model: str
    prompt: str = PROMPT
    temperature: float = 0.0
    grades: tuple[int, ...] = (0, 1, 2, 3)

    @property
    def name(self) -> str:
        """The judge's name."""
        digest = hashlib.sha256(self.prompt.encode()).hexdigest()[:8]
        return f"machine:{self.model}/prompt-{digest}/t{self.temperature:g}"

    def text(self, question: Question) -> str:
        """The prompt for a question."""
        fields = {
            "query": question.query_text,
            "document": question.document_text,
            "grades": ", ".join(map(str, self.grades)),
        }
        return re.sub(r"\{\{(query|document|grades)\}\}", lambda match: fields[match.group(1)], self.prompt)

    def hash(self, question: Question) -> str:
        """Identifies the question to this judge."""
        parts = [self.name, question.query, question.document, self.text(question), list(self.grades)]
        return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def grade(self, answer: object) -> int | None:
        """The grade in an answer: a number, an object with `grade`, or the only such number of a text; else None."""
        while isinstance(answer, dict):
            answer = answer.get("grade")
        if isinstance(answer, bool) or answer is None:
            return None
        if isinstance(answer, int | float):
            return int(answer) if answer in self.grades else None
        text = str(answer).strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict | int | float):
            return self.grade(value)
        numbers = {float(word) for word in re.findall(r"(?<![\d.])-?\d+(?![\d.]*\d)", text)}
        return self.grade(numbers.pop()) if len(numbers) == 1 else None


Answers = Iterator[tuple[int, Any]]
"""Numbers of questions with their answers, in any order, as they come."""
Ask = Callable[[Sequence[dict[str, Any]]], Answers]
"""Sends questions, each with id, prompt and texts."""


def ask(
    questions: Iterable[Question], machine: Machine, path: str, send: Ask, *, retries: int = 3
) -> tuple[int, int, list[Question]]:
    """Ask what the file does not answer yet, and append each answer as it comes.

    Returns the number answered before, the number answered now, and the questions left without a grade after retries.
    """
    wanted = {machine.hash(question): question for question in questions}
    with claimed(path):  # another process would ask the same again
        before = set(answered(path)) & set(wanted)
        left = {key: question for key, question in wanted.items() if key not in before}
        cut_partial_line(path)
        with open(path, "ab") as file:
            for _ in range(1 + retries):
                keys = list(left)
                if not keys:
                    break
                messages = [_message(machine, key, left[key]) for key in keys]
                for number, answer in send(messages):
                    key = keys[number]
                    grade = machine.grade(answer)
                    if grade is not None and key in left:
                        file.write(_line(machine, key, left.pop(key), grade, answer))
                        file.flush()
        return len(before), len(wanted) - len(before) - len(left), list(left.values())


def answered(path: str) -> list[str]:
    """The hashes of the answers in a file; a last line that was cut off is ignored."""
    if not is_continued(path):
        return []
    hashes = []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                hashes.append(json.loads(line)["hash"].strip())
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise DataError(
                    "no answer of a machine judge: expected JSON with a hash. Write answers to a file of their own.",
                    where=f"{path}:{number}",
                ) from None
    return hashes


def _message(machine: Machine, key: str, question: Question) -> dict[str, Any]:
    return {
        "id": key,
        "query": question.query_text,
        "document": question.document_text,
        "prompt": machine.text(question),
        "model": machine.model,
        "temperature": machine.temperature,
        "grades": list(machine.grades),
    }


def _line(machine: Machine, key: str, question: Question, grade: int, answer: object) -> bytes:
    row = {"query": question.query, "document": question.document, "judge": machine.name, "grade": grade,
           "answer": answer if isinstance(answer, str) else json.dumps(answer), "hash": key}  # fmt: skip
    return json.dumps(row).encode() + b"\n"
