"""Rate limit: a token bucket for each key, per worker; requests beyond it are answered 429."""

from __future__ import annotations

import math
import time

from podium.service.problems import ServiceError


class RateLimit:
    """Token buckets: `burst` requests at once, then `rate` requests per second; no limit if `rate` is 0."""

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, float(burst)
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens left, time of the last request

    def take(self, name: str) -> dict[str, str]:
        """Count a request of a key. Returns the RateLimit-* headers of the answer; raises 429 if no token is left."""
        if self.rate <= 0:
            return {}
        now = time.monotonic()
        left, since = self._buckets.get(name, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.rate)
        wait = math.ceil((1.0 - left) / self.rate) if left < 1.0 else 0
        self._buckets[name] = (left if wait else left - 1.0, now)
        headers = {
            "RateLimit-Limit": f"{self.burst:.0f}",
            "RateLimit-Remaining": f"{max(0.0, left - 1.0):.0f}",
            "RateLimit-Reset": str(max(1, math.ceil((self.burst - left) / self.rate))),
        }
        if wait:
            raise ServiceError(
                429, f"more than {self.rate:g} requests per second. Wait {wait} s.",
                headers={**headers, "Retry-After": str(wait)},
            )  # fmt: skip
        return headers
