"""Ways to ask a machine judge: a command that reads and writes JSON lines, or a chat model over HTTP.

Nothing is sent anywhere else: redirects are not followed, and certificates are checked.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any
from urllib.parse import urlsplit

from podium.base.errors import MachineError, ParameterError, RequestError
from podium.base.http_requests import check_url, request
from podium.judgments.machine_judge import Answers, Ask


def by_command(command: str) -> Ask:
    """Ask by a command: a line of JSON for each question on its input, a line with id and grade on its output."""
    words = shlex.split(command)
    if not words:
        raise ParameterError("--command needs a command, e.g. --command './judge.sh'.")

    def send(messages: Sequence[dict[str, Any]]) -> Answers:
        place = {message["id"]: k for k, message in enumerate(messages)}
        try:
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise MachineError(f"{command!r} cannot be started: {error.strerror}.") from None
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        feeder = threading.Thread(target=_feed, args=(process.stdin, messages), daemon=True)
        feeder.start()
        try:
            for number, line in enumerate(process.stdout, 1):
                answer = _answer(line, number, command)
                if answer["id"] in place:
                    yield place[answer["id"]], answer
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            code = process.wait()
            feeder.join()
        if code:
            raise MachineError(f"{command!r} failed with exit code {code}. What it answered is kept; run it again.")

    return send


def _feed(stream: IO[bytes], messages: Sequence[dict[str, Any]]) -> None:
    """Write questions; a command that ends early is noticed by its exit code."""
    with suppress(BrokenPipeError):
        for message in messages:
            stream.write(json.dumps(message).encode() + b"\n")
            stream.flush()
    with suppress(BrokenPipeError):
        stream.close()


def _answer(line: bytes, number: int, command: str) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
        raise MachineError(f"line {number} of {command!r} is no JSON object with id and grade: {line[:80]!r}.")
    return answer


def by_url(url: str, *, key: str | None = None, rate: float | None = None, timeout: float = 60.0) -> Ask:
    """Ask a chat model by POST, one question at a time, in the form of OpenAI's chat completions.

    `key` goes into the header Authorization; `rate` is the most questions a second. Too many requests, server errors
    and lost connections are left to the next round of retries, after a pause.
    """
    check_url(url)

    def send(messages: Sequence[dict[str, Any]]) -> Answers:
        pause = _Pause(0.0 if rate is None else 1.0 / rate)
        for number, message in enumerate(messages):
            pause.wait()
            body = {
                "model": message["model"],
                "temperature": message["temperature"],
                "messages": [{"role": "user", "content": message["prompt"]}],
            }
            answer = _post(url, body, key=key, timeout=timeout)
            if answer is None:
                pause.longer()
            else:
                yield number, answer

    return send


class _Pause:
    """Time between questions, longer after failures."""

    def __init__(self, least: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.least, self.clock, self.next, self.failures = least, clock, 0.0, 0

    def wait(self) -> None:
        left = self.next - self.clock()
        if left > 0.0:
            time.sleep(left)
        self.next = self.clock() + self.least

    def longer(self) -> None:
        self.failures += 1
        self.next = self.clock() + min(0.1 * 2.0**self.failures, 30.0)


def _post(url: str, body: dict[str, Any], *, key: str | None, timeout: float) -> str | None:
    """The text of the model's answer; None if it is worth trying again."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    try:
        answer = request("POST", url, json.dumps(body).encode(), headers=headers, timeout=timeout)
    except RequestError as error:
        if error.again:
            return None
        raise
    if answer.status == 429 or answer.status >= 500:
        return None
    host = urlsplit(url).hostname
    if answer.status != 200:
        raise MachineError(f"{host} answered {answer.status}: {answer.text}")
    try:
        return str(json.loads(answer.content)["choices"][0]["message"]["content"])
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise MachineError(
            f"{host} did not answer as a chat model does (choices, message, content): {answer.content[:200]!r}."
        ) from None
