"""Errors of the service, without HTTP; `podium.service.problems` maps them to status codes."""

from __future__ import annotations

from podium.base.errors import PodiumError


class RequestError(PodiumError):
    """A request is wrong; `where` names the wrong part."""

    def __init__(self, detail: str, *, where: str | None = None) -> None:
        super().__init__(detail)
        self.where = where


class NotFoundError(RequestError):
    """No model, experiment, query or index has this name."""


class ConflictError(RequestError):
    """The request conflicts with the state of the service: a version in use, a running experiment."""


class StaleError(RequestError):
    """Another caller changed the thing first (If-Match)."""


class TooLargeError(RequestError):
    """The request is larger than the limits allow."""


class BusyError(PodiumError):
    """The service is busy; the client may retry after `seconds`."""

    seconds = 1
