"""A page in a headless chromium, moved through the DevTools protocol over a pipe; no package is needed.

with Browser() as browser:
    browser.open(path)
    browser.run("document.title")
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page; `problems` are its errors and what it wrote to the console."""

    def __init__(self, seconds: float = 60.0, *, origin: str | None = None) -> None:
        """`origin` is a server that the page may ask; any other is a problem."""
        self.problems: list[str] = []
        self._allowed = ("file:", "data:", "about:", "blob:", *([] if origin is None else [f"{origin}/"]))
        self._deadline, self._count, self._buffer = time.monotonic() + seconds, 0, b""
        self._session: str | None = None

    def __enter__(self) -> Self:
        assert CHROMIUM is not None
        self._profile = TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        (to_read, self._write), (self._read, to_write) = os.pipe(), os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        flags += ["--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe"]
        command = [CHROMIUM, *flags, f"--user-data-dir={self._profile.name}", "about:blank"]
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_read, to_write)]
        actions = [(os.POSIX_SPAWN_OPEN, k, os.devnull, os.O_RDWR, 0) for k in (0, 1, 2)]
        # Chromium reads its commands from descriptor 3 and answers on 4.
        actions += [(os.POSIX_SPAWN_DUP2, end, k) for end, k in zip(ends, (3, 4), strict=True)]
        self._process = os.posix_spawn(CHROMIUM, command, os.environ, file_actions=actions, setpgroup=0)
        for end in (to_read, to_write, *ends):
            os.close(end)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def open(self, where: Path | str, *, width: int = 1100, height: int = 900, dark: bool = False) -> None:
        """Load a file or an address and wait until it is drawn."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="", features=[theme])
        self.call("Page.navigate", url=where if isinstance(where, str) else where.resolve().as_uri())
        while self.run("document.readyState") != "complete":
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        number = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowRight": 39}.get(key) or ord(key.upper())
        code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}" if len(key) == 1 and key.isalpha() else key
        text = {"text": "\r" if key == "Enter" else key} if key == "Enter" or len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number,
                **(text if kind == "keyDown" else {}),
            )  # fmt: skip

    def wait(self, script: str) -> None:
        """Wait until an expression in the page is true."""
        while not self.run(script):
            time.sleep(0.05)

    def screenshot(self) -> bytes:
        """The whole page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol, and its answer."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            got = self._message()
            if got.get("id") == self._count:
                assert "error" not in got, got
                return dict(got["result"])
            self._note(got)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = self._deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError("chromium does not answer")
            more = os.read(self._read, 1 << 20)
            if not more:
                raise EOFError("chromium has ended")
            self._buffer += more
        first, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(first))

    def _note(self, got: dict[str, Any]) -> None:
        if got.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.problems.append(json.dumps(got["params"]))
        if got.get("method") == "Network.requestWillBeSent":
            url = got["params"]["request"]["url"]
            if not url.startswith(self._allowed):
                self.problems.append(f"asked the network for {url}")
