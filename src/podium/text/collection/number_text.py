"""Numbers in texts: a number, or an ISO date as days since 1970."""

from __future__ import annotations

import math
from datetime import UTC, datetime


def read_number(text: str) -> float | None:
    """Parse a number, or an ISO date as days since 1970; None if it is neither."""
    try:
        value = float(text)
        return value if math.isfinite(value) else None
    except ValueError:
        return read_date(text)


def read_date(text: str) -> float | None:
    """Parse an ISO date as days since 1970; None if it is none."""
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() / 86400.0
