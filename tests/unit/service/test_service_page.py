"""docs/service.md, line by line: a real server is started as it says, and curl's requests get the answers it shows.

A shown answer is JSON in which "…" stands for any text; numbers agree to three digits.
"""

import http.client
import json
import re
import shlex
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import podium
from podium.cli.main import app
from programs import PODIUM

PAGE = Path(__file__).parents[3] / "docs" / "service.md"
VARY = {"took_ms", "bytes", "title", "time", "started", "ended"}  # Python has other words for a status from 3.13 on
BLOCK = re.compile(r"^```(?:sh)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands():
    """(words, shown answer) of all lines that call podium or curl."""
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        lines = block.splitlines()
        while lines:
            text = lines.pop(0)
            if not text.startswith(("podium ", "$ curl ")):
                continue
            while text.count("'") % 2:
                text += "\n" + lines.pop(0)
            shown = []
            while lines and text.startswith("$") and not lines[0].startswith("$ "):
                shown.append(lines.pop(0))
            yield shlex.split(text.removeprefix("$ "), comments=True), "\n".join(shown)


class Line:
    """curl, as far as the page uses it."""

    def __init__(self, port):
        self.port, self.request = port, ""

    def __call__(self, words):
        method, body, headers, words = None, None, {}, list(words[1:])
        address = ""
        while words:
            word = words.pop(0)
            if word == "-s":
                continue
            if word == "-X":
                method = words.pop(0)
            elif word == "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value
            elif word == "-d":
                body = words.pop(0).replace("REQUEST", self.request).encode()
            elif word == "-T":
                method, body = "PUT", Path(words.pop(0)).read_bytes()
            else:
                assert word.startswith("127.0.0.1:8080/"), word
                address = word.removeprefix("127.0.0.1:8080")
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        line.request(method or ("GET" if body is None else "POST"), address, body, headers)
        found = json.loads(line.getresponse().read())
        line.close()
        if "results" in found:
            self.request = found.get("request", self.request)
        return found


def agrees(shown, got):
    if shown == "…":
        return isinstance(got, str)
    if isinstance(shown, float) or isinstance(got, float):
        return shown == pytest.approx(got, rel=2e-3, abs=1e-3)
    if isinstance(shown, dict):
        keys = set(shown) - VARY
        return keys == set(got) - VARY and all(agrees(shown[key], got[key]) for key in keys)
    if isinstance(shown, list):
        return len(shown) == len(got) and all(map(agrees, shown, got))
    return shown == got


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "DATA").mkdir()
    data, _ = podium.make_letor_like(60, (4, 12), n_features=8, seed=1)
    for name, part in zip(("train", "vali", "test"), podium.split(data), strict=True):
        podium.write_letor(part, tmp_path / "DATA" / f"{name}.txt")
    return tmp_path


def started(words, port):
    process = subprocess.Popen([*PODIUM, *words[1:], "--port", str(port)])
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            if Line(port)(["curl", "127.0.0.1:8080/health/ready"]) == {"status": "ready"}:
                return process
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{words} did not start")


def test_the_page_of_the_service_says_what_happens(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    curl, process, ran = Line(port), None, 0
    try:
        for words, shown in commands():
            if words[:2] == ["podium", "serve"]:
                if process is None:
                    process = started(words, port)
                continue
            if words[0] == "podium":
                done = CliRunner().invoke(app, words[1:])
                assert done.exit_code == 0, f"{words}: {done.output}"
                continue
            got, ran = curl(words), ran + 1
            assert agrees(json.loads(shown), got), f"{PAGE.name} says\n{shown}\nbut the answer is\n{json.dumps(got)}"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
    assert ran >= 7
    assert (folder / "models" / "web" / "2.podium").exists()
    assert podium.read_clicks("clicks.jsonl").n_pages == 1
    assert podium.read_data("train.txt").labels.sum() == 1


def test_the_units_of_deployment_name_settings_that_exist():
    text = PAGE.with_name("deploy.md").read_text(encoding="utf-8")
    command = json.loads(re.search(r"^CMD (\[.*\])$", text, re.MULTILINE)[1])
    done = CliRunner().invoke(app, [*command[1:], "--show-settings"])
    assert done.exit_code == 0, done.output
