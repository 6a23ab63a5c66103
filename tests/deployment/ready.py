"""Whether a program that serves HTTP is ready."""

import httpx


def ready(url: str) -> bool:
    """Whether it answers, and says so itself."""
    try:
        return httpx.get(f"{url}/readyz", timeout=10).status_code == 200
    except httpx.TransportError:
        return False
