"""Archive: one file of JSON and plain arrays, versioned, checksummed, never code.

FILE (a zip archive, nothing compressed)
├── model.json      format, version, a description, and each array's type, shape and hash
└── arrays/NAME     the bytes of each array
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.errors import ModelFileError, PodiumError
from podium.base.files import write_aside

_TYPES = ("<f8", "<f4", "<i8", "<i4", "|u1", "|b1")


def write(
    path: str | PathLike[str], kind: str, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, version: int
) -> None:
    """Write a description and arrays to one file; the same content gives the same bytes."""
    blobs = {name: _little_endian(array) for name, array in arrays.items()}
    about = {
        name: {"type": a.dtype.str, "shape": a.shape, "sha256": hashlib.sha256(a.tobytes()).hexdigest()}
        for name, a in blobs.items()
    }
    whole = {"format": kind, "version": version, **head, "arrays": about}
    text = json.dumps(whole, indent=1, ensure_ascii=False).encode()
    with write_aside(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = hashlib.sha256(text).hexdigest().encode()
        archive.writestr(zipfile.ZipInfo("model.json"), text)
        for name, array in blobs.items():
            archive.writestr(zipfile.ZipInfo(f"arrays/{name}"), array.tobytes())


def read(path: str | PathLike[str], kind: str, *, version: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the description and the arrays of a file that `write` wrote."""
    with zipfile.ZipFile(path) as archive:
        head = _head(archive, kind, version)
        arrays = {name: _array(archive, name, about) for name, about in head["arrays"].items()}
    return head, arrays


@contextmanager
def file_errors(path: str | PathLike[str], kind: str, *, made_by: str) -> Iterator[None]:
    """Turn any error while a file is read into a ModelFileError that names the file."""
    word = kind.removeprefix("podium ")
    try:
        yield
    except FileNotFoundError:
        raise ModelFileError(f"{path}: no such {word} file.") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror}.") from error
    except PodiumError as error:
        raise ModelFileError(f"{path}: this {word} cannot be used here. {error}") from error
    except Exception as error:  # damaged or foreign bytes may raise anything
        raise ModelFileError(
            f"{path}: not a {kind}, or damaged ({error}). Use the file that `{made_by}` wrote."
        ) from error


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _head(archive: zipfile.ZipFile, kind: str, version: int) -> dict[str, Any]:
    for entry in archive.infolist():
        if entry.compress_type != zipfile.ZIP_STORED:
            raise ModelFileError(f"Entry {entry.filename} is compressed; {kind}s are not.")
    text = archive.read("model.json")
    if hashlib.sha256(text).hexdigest().encode() != archive.comment:
        raise ModelFileError("Damaged: the description does not match its checksum. Train or copy it again.")
    head = json.loads(text)
    if not isinstance(head, dict) or head.get("format") != kind:
        raise ModelFileError(f"It is not a {kind}.")
    if head["version"] > version:
        raise ModelFileError(
            f"It was written by a newer podium (format {head['version']}; this one reads {version}). Upgrade podium."
        )
    return head


def _array(archive: zipfile.ZipFile, name: str, about: dict[str, Any]) -> NDArray[Any]:
    raw = archive.read(f"arrays/{name}")
    shape = tuple(int(n) for n in about["shape"])
    if about["type"] not in _TYPES or math.prod(shape) * np.dtype(about["type"]).itemsize != len(raw):
        raise ModelFileError(f"Array {name} is damaged: {len(raw)} bytes for shape {shape}.")
    if hashlib.sha256(raw).hexdigest() != about["sha256"]:
        raise ModelFileError(f"Array {name} does not match its checksum. Train or copy the model again.")
    return np.frombuffer(raw, np.dtype(about["type"])).reshape(shape)
