"""Settings of the service: from a TOML file, then the environment, then the command line; the last one counts.

    >>> settings = Settings.read(environment={"PODIUM_SERVE_PORT": "9000"}, given={"workers": 2})
    >>> settings.port, settings.workers
    (9000, 2)

A field `name` is `name` in the file, `PODIUM_SERVE_NAME` in the environment (lists separated by commas) and `--name`
if the command has such an option. Worker processes get all settings through the environment.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from podium.base.errors import DataError, ParameterError, UnknownNameError

PREFIX = "PODIUM_SERVE_"


@dataclass(frozen=True)
class Settings:
    """All settings of the service. Sizes are in bytes, times in seconds."""

    models: tuple[str, ...] = ()
    """Model files to serve."""
    index: str = ""
    """An index to search; "" for none."""
    aliases: tuple[str, ...] = ()
    """Names for models, as default=web@3. Without `default`, it is the first model."""
    shelf: str = ""
    """Folder of the model store: models and aliases; needed to add and swap models while the service runs."""
    data: str = ""
    """Data with queries to look up; "" for none."""
    queries: str = ""
    """Texts of the data's queries, for the web interface; "" for none."""
    guidelines: str = ""
    """Text file with guidelines for judges, shown while they grade; "" for none."""
    scale: int = 0
    """Highest grade that the web interface offers, up to 9; 0 for that of the data, or 4."""
    store: str = ""
    """SQLite file for feedback; "" for none."""
    keys: str = ""
    """Key file, with lines: name role sha256. Without it, only this machine is served."""
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    """Number of worker processes."""
    proxies: tuple[str, ...] = ()
    """Addresses of trusted proxies, for their X-Forwarded-* headers."""
    origins: tuple[str, ...] = ()
    """Origins of other sites that may call the service from a browser (CORS)."""
    body_bytes: int = 8_000_000
    model_bytes: int = 512_000_000
    """Largest model file that can be added."""
    header_bytes: int = 16_384
    documents: int = 10_000
    """Largest number of documents of a request."""
    inline_documents: int = 250
    """Requests with more documents are ranked in a thread, so that others need not wait."""
    request_seconds: float = 10.0
    keep_alive_seconds: int = 75
    concurrency: int = 64
    """Largest number of concurrent requests per worker, half of them of one key; others are answered 503."""
    rate: float = 0.0
    """Rate limit: requests per second of a key, per worker; 0 for no limit."""
    burst: int = 100
    """Requests that a key may make at once before `rate` limits it."""
    log_requests: bool = False
    """Log each request as a line of JSON; errors of the service are always logged."""
    logged_documents: int = 100
    """Number of top documents of an answer that are stored with their features."""
    keep_days: float = 90.0
    """Feedback older than this is deleted; 0 keeps it."""
    keep_bytes: int = 10_000_000_000
    """Largest size of the feedback store; the oldest feedback is deleted first."""
    queue: int = 10_000
    """Largest number of events that wait to be written; others are answered 503."""

    def __post_init__(self) -> None:
        for name in (
            "workers", "concurrency", "documents", "body_bytes", "queue", "burst", "request_seconds",
            "logged_documents", "header_bytes", "model_bytes",
        ):  # fmt: skip
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} must be above 0; got {getattr(self, name)}.")
        for name, value in dataclasses.asdict(self).items():
            if isinstance(value, tuple) and any("," in text for text in value):
                raise ParameterError(f"{name}: a comma separates values, so it cannot be part of one; got {value}.")
        if not 0 <= self.scale <= 9:
            raise ParameterError(f"scale must be from 1 to 9, or 0 for that of the data; got {self.scale}.")
        if not 0 <= self.port <= 65535:
            raise ParameterError(f"port must be from 0 to 65535; got {self.port}.")
        if not self.keys and not is_loopback(self.host):
            raise ParameterError(
                f"host {self.host}: without keys, only this machine is served (127.0.0.1). Make a file of keys "
                "(podium serve --help says how) and give it with --keys."
            )

    @classmethod
    def read(
        cls,
        file: str | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        given: Mapping[str, Any] | None = None,
    ) -> Settings:
        """Read settings from a file, then the environment, then `given`, where None means not set."""
        values = {} if file is None else _from_file(file)
        variables = os.environ if environment is None else environment
        foreign = of_kubernetes(variables)
        for name, text in variables.items():
            if name.startswith(PREFIX) and name not in foreign:
                key = name.removeprefix(PREFIX).lower()
                values[key] = _parsed(key, text, where=name)
        values |= {name: value for name, value in (given or {}).items() if value is not None}
        return cls(**values)

    def environment(self) -> dict[str, str]:
        """The settings as environment variables."""
        return {PREFIX + name.upper(): _text(value) for name, value in dataclasses.asdict(self).items()}

    def lines(self) -> list[str]:
        """The settings as lines of a TOML file."""
        return [f"{name} = {_toml(value)}" for name, value in dataclasses.asdict(self).items()]


def of_kubernetes(environment: Mapping[str, str]) -> list[str]:
    """Variables that Kubernetes sets in every container for a service called podium-serve; they are not settings."""
    return [name for name, value in environment.items() if _KUBERNETES.fullmatch(f"{name}={value}")]


_KUBERNETES = re.compile(
    PREFIX + r"(?:PORT=(?:tcp|udp|sctp)://.*|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?=.*|SERVICE_(?:HOST|PORT(?:_\w+)?)=.*)",
    re.DOTALL,
)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host's address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_DEFAULTS = {field.name: field.default for field in fields(Settings)}


def _from_file(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.", where=path) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"not TOML: {error}.", where=path) from None
    return {name: _checked(name, value, where=path) for name, value in values.items()}


def _checked(name: str, value: Any, *, where: str) -> Any:
    if name not in _DEFAULTS:
        raise UnknownNameError("setting", name, _DEFAULTS, see="podium serve --show-settings")
    default = _DEFAULTS[name]
    if isinstance(default, tuple) and isinstance(value, list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    if isinstance(default, float) and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if type(value) is not type(default):
        expected = "a list of texts" if isinstance(default, tuple) else f"a value like {_toml(default)}"
        raise DataError(f"{name}: {expected} is needed; got {value!r}.", where=where)
    return value


def _parsed(name: str, text: str, *, where: str) -> Any:
    """Parse a setting from text."""
    default: Any = _DEFAULTS.get(name, "")
    try:
        if isinstance(default, tuple):
            value: Any = [part for part in text.split(",") if part]
        elif isinstance(default, bool):
            value = {"true": True, "false": False}[text.lower()]
        else:
            value = type(default)(text)
    except (ValueError, KeyError):
        raise DataError(f"a value like {_text(default)} is needed; got {text!r}.", where=where) from None
    return _checked(name, value, where=where)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return _text(value)
