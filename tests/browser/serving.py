"""A service in a thread of the test, and a page of it in the browser."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser.devtools import Browser

AXE = """
axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
  .then((all) => all.violations.map((one) => [one.id, one.impact, one.nodes.map((node) => node.html.slice(0, 200))]))"""
READY = "!document.querySelector('main[aria-busy]') && document.querySelector('main section') !== null"


@contextmanager
def serving(**settings: Any) -> Iterator[str]:
    """A server in a thread, and its address."""
    import uvicorn

    from podium.service.app import build
    from podium.service.settings import Settings

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(build(Settings(**settings)), log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


def show(page: Browser, address: str, **how: Any) -> None:
    page.open(address, **how)
    page.wait(READY)


def axe_violations(page: Browser) -> list[Any]:
    """Accessibility issues that axe finds, if PODIUM_AXE is the path of axe-core's axe.min.js; else none."""
    axe = os.environ.get("PODIUM_AXE")
    if not axe:
        return []
    page.run(Path(axe).read_text() + ";1")
    return list(page.run(AXE))


def text(page: Browser, selector: str) -> str:
    return str(page.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))


def texts(page: Browser, selector: str) -> list[str]:
    return list(page.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.innerText)"))


def press(page: Browser, selector: str) -> None:
    page.run(f"document.querySelector({json.dumps(selector)}).click()")


def choose(page: Browser, selector: str, value: str) -> None:
    page.run(
        f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.value = {json.dumps(value)};"
        " one.dispatchEvent(new Event('change')); })()"
    )
