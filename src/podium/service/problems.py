"""Problem details (RFC 9457, `application/problem+json`): HTTP status and message of each error."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from http import HTTPStatus
from typing import TypeVar

import msgspec
from starlette.responses import Response

from podium.base.errors import DataError, IncompatibleError, IndexFileError, ModelFileError, ParameterError, PodiumError
from podium.service.domain_errors import (
    BusyError,
    ConflictError,
    NotFoundError,
    RequestError,
    StaleError,
    TooLargeError,
)
from podium.service.schemas import ProblemDetails

T = TypeVar("T")
_STATUS: dict[type[PodiumError], int] = {
    NotFoundError: 404,
    ConflictError: 409,
    StaleError: 412,
    TooLargeError: 413,
    RequestError: 422,
    DataError: 422,
    ParameterError: 422,
    IncompatibleError: 422,
    ModelFileError: 422,
    IndexFileError: 503,
    PodiumError: 500,
}
"""HTTP status of each error of podium; the first match counts."""
_TEI_TYPES = {4: "Validation", 5: "Backend"}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ServiceError(PodiumError):
    """An error with an HTTP status: what, where, expected, got, and what to do next."""

    def __init__(
        self, status: int, detail: str, *, where: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.where, self.headers = status, detail, where, dict(headers or {})


def problem_of(error: BaseException) -> ServiceError:
    """Convert an error to a `ServiceError`; an unexpected one becomes status 500."""
    if isinstance(error, ServiceError):
        return error
    for cause in (error, error.__cause__):
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return ServiceError(507, f"the disk of the service is full ({cause.strerror}). Free some, and try again.")
    if isinstance(error, msgspec.ValidationError):
        return ServiceError(422, *_parts(str(error)))
    if isinstance(error, msgspec.DecodeError):
        return ServiceError(400, f"{str(error).rstrip('.')}. Send one JSON value in UTF-8.")
    if isinstance(error, BusyError):
        return ServiceError(503, str(error), headers={"Retry-After": str(error.seconds)})
    for kind, status in _STATUS.items():
        if isinstance(error, kind):
            return ServiceError(status, str(error), where=getattr(error, "where", None))
    return ServiceError(500, "The service failed; its log has the reason under this request id. Try again.")


def answer_of(problem: ServiceError, *, reranks: bool = False) -> Response:
    """Response for an error, as problem details; if it `reranks`, also with what clients of other servers read."""
    title = HTTPStatus(problem.status).phrase
    body = ProblemDetails(title=title, status=problem.status, detail=problem.detail, where=problem.where)
    if reranks:
        body.message = body.error = problem.detail
        body.error_type = "Overloaded" if problem.status in (429, 503) else _TEI_TYPES[problem.status // 100]
    return Response(msgspec.json.encode(body), problem.status, problem.headers, "application/problem+json")


def decoded(decoder: msgspec.json.Decoder[T], body: bytes | str | msgspec.Raw) -> T:
    """Decode a JSON body, or raise a clear error."""
    try:
        return decoder.decode(body)
    except UnicodeDecodeError as error:
        raise ServiceError(400, f"the body is not UTF-8: {error.reason} at byte {error.start}.") from None
    except RecursionError:
        raise ServiceError(400, "the body is nested too deeply.") from None


def _parts(message: str) -> tuple[str]:
    """Message of msgspec as a sentence that ends in the path, e.g. $.documents[3].features."""
    what, _, place = message.partition(" - at ")
    return (f"{what.replace('`', '')}{f' at {place.strip(chr(96))}' if place else ''}. See /openapi.json.",)
