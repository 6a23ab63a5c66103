"""What a request may refer to: objects of the store, and URLs with prefixes that the operator allows.

A request comes from anyone who may submit; the command reads files with the service's rights. So a request
names inputs by key or by a URL under an allowed prefix, bundles under such a prefix, and editions by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from switchyard.errors import BadInput


@dataclass(frozen=True)
class Allowed:
    prefixes: Sequence[str]

    def check(self, said: Mapping[str, Any]) -> None:
        """Check a request as it was received, before anything that it names is opened."""
        for name in ("input", "ponds"):
            given = said.get(name)
            url = given.get("url") if isinstance(given, dict) else None
            if isinstance(url, str) and not self.has(url):
                raise BadInput(f"{name}: {url!r:.200} is not in the store, and no --allow-url covers it")
        bundle = said.get("bundle")
        if isinstance(bundle, str) and not self.has(bundle if "://" in bundle else Path(bundle).as_posix()):
            raise BadInput(f"bundle: {bundle!r:.200} is not covered by any --allow-url")
        if ".toml" in str(said.get("edition", "")):
            raise BadInput(f"edition: {said['edition']!r:.200} is not a name")

    def has(self, url: str) -> bool:
        """Whether the URL is under an allowed prefix, by folder: `..` and longer names do not match."""
        return any(_under(_place(url), _place(prefix)) for prefix in self.prefixes)


def _place(url: str) -> tuple[str, tuple[str, ...]]:
    """Scheme with host, and the parts of the path; a local path is a file URL."""
    parts = urlsplit(url if "://" in url else f"file://{url}")
    path = unquote(parts.path) if parts.scheme == "file" else parts.path
    return f"{parts.scheme}://{parts.netloc}", tuple(
        part for part in path.split("/") if part not in ("", ".")
    )


def _under(place: tuple[str, tuple[str, ...]], base: tuple[str, tuple[str, ...]]) -> bool:
    return place[0] == base[0] and ".." not in place[1] and place[1][: len(base[1])] == base[1]
