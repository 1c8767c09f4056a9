"""A service in a thread of the test, and a page of it in the browser."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from browser.devtools import Browser

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
