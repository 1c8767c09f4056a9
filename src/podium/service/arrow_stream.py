"""Arrow stream of an untrusted client: read only if nothing in it is larger in memory than in the stream.

Arrow's own reader unpacks everything: a compressed buffer of a few kB may become gigabytes, and so may a dictionary,
run-length encoding, or views of one text. pyarrow does not say whether buffers are compressed, so it is read from the
header of each message, a FlatBuffer of fixed layout (Message.fbs of Arrow, in format/).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from podium.service.problems import ServiceError

if TYPE_CHECKING:
    import pyarrow as pa

_HEADER, _COMPRESSION = 2, 3
"""Field numbers of Message.header and of RecordBatch.compression in their FlatBuffer tables."""


def read_stream(body: bytes, *, rows: int, columns: int, batches: int) -> pa.Table:
    """Read and validate a stream: columns of numbers, with texts or whole numbers in `id` and `qid`."""
    import pyarrow as pa

    with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
        _check_schema(stream.schema, columns)
    messages = pa.ipc.MessageReader.open_stream(pa.py_buffer(body))
    messages.read_next_message()  # the schema
    total, read = 0, []
    for message in _counted(messages, batches):
        if message.type != "record batch":
            raise ValueError(f"a {message.type} is not read here")
        if _is_compressed(message.metadata.to_pybytes()):
            raise ServiceError(415, "buffers of Arrow are read as they are. Write the stream without compression.")
        batch = pa.ipc.read_record_batch(message, stream.schema)
        total += batch.num_rows
        if batch.num_rows > rows or total > rows:
            raise ServiceError(413, f"{total} documents; at most {rows} are ranked at once.")
        read.append(batch)
    table = pa.Table.from_batches(read, stream.schema)
    table.validate(full=True)
    for name in ("id", "qid"):
        if name in table.column_names and table[name].null_count:
            raise ServiceError(422, f"column {name!r} has nulls.", where="columns")
    return table


def _check_schema(schema: pa.Schema, most: int) -> None:
    if len(schema) > most:
        raise ServiceError(413, f"{len(schema)} columns; the model has {most - 2} features.", where="columns")
    if len(set(schema.names)) < len(schema):
        raise ServiceError(422, "two columns have the same name.", where="columns")
    from pyarrow import types as kinds

    for field in schema:
        whole = kinds.is_integer(field.type)
        if field.name in ("id", "qid"):
            if not (whole or kinds.is_string(field.type) or kinds.is_large_string(field.type)):
                raise ServiceError(
                    422, f"column {field.name!r} is of type {str(field.type)[:100]}; plain texts or whole numbers are "
                    "needed.", where="columns",
                )  # fmt: skip
        elif not (whole or kinds.is_floating(field.type) or kinds.is_null(field.type)):
            kind = str(field.type)[:100]
            raise ServiceError(422, f"column {field.name!r} is of type {kind}; numbers are needed.", where="columns")


def _counted(messages: pa.ipc.MessageReader, most: int) -> Iterator[pa.ipc.Message]:
    for number in range(most + 1):
        try:
            message = messages.read_next_message()
        except StopIteration:
            return
        if number == most:
            raise ServiceError(413, f"more than {most} batches. Write fewer, larger ones.")
        yield message


def _is_compressed(message: bytes) -> bool:
    """Whether the header of a record batch names a compression, in today's form or that before Arrow 1.0."""
    (table,) = struct.unpack_from("<I", message)
    header = _field(message, table, _HEADER)
    if header is None:
        raise ValueError("a message has no header")
    batch = header + struct.unpack_from("<I", message, header)[0]
    return _field(message, batch, _COMPRESSION) is not None or b"ARROW:experimental_compression" in message


def _field(message: bytes, table: int, number: int) -> int | None:
    """Offset of a field of a FlatBuffer table; None if it is missing.

    A table begins with the distance back to its vtable: the sizes of the vtable and of the table, then the offset of
    each field from the table's start, 0 if it is missing; two bytes each.
    """
    fields = table - struct.unpack_from("<i", message, table)[0]
    if fields < 0:
        raise ValueError("a message is damaged")
    (size,) = struct.unpack_from("<H", message, fields)
    if 4 + 2 * number >= size:
        return None
    (distance,) = struct.unpack_from("<H", message, fields + 4 + 2 * number)
    return table + distance if distance else None
