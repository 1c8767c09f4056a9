"""What the service refuses to do, or cannot do now. `podium.service.problems` says which status of HTTP each one is."""

from __future__ import annotations

from podium.base.errors import PodiumError


class RequestError(PodiumError):
    """A request is wrong; `where` names the part of it that is."""

    def __init__(self, detail: str, *, where: str | None = None) -> None:
        super().__init__(detail)
        self.where = where


class NotFoundError(RequestError):
    """No model, experiment, query or index is there under this name."""


class ConflictError(RequestError):
    """The request contradicts what is there: a version in use, an experiment that runs."""


class StaleError(RequestError):
    """Somebody else changed what the request is about to change."""


class TooLargeError(RequestError):
    """The request holds more than is taken at once."""


class BusyError(PodiumError):
    """The service cannot do this now; it may be able to in `seconds`."""

    seconds = 1
