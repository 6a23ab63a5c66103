"""The headers that an action's configuration asks for: names vetted at the start, values at each request."""

import re
from collections.abc import Iterable, Mapping

from switchyard.backends.http.template import FAULTS, Names, Template, TemplateFaultError, reason
from switchyard.config.sandbox import as_json
from switchyard.errors import ConfigError

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_UNFIT = re.compile(r"[^\t\x20-\x7e]")
# Framing and routing are the client's: a header of these would make two readings of one request.
_RESERVED = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*",
    re.IGNORECASE,
)


_ALWAYS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "switchyard"}


class HeaderError(ValueError):
    """A value that no header can carry; the text does not repeat it."""


class HeaderTemplates:
    """Header templates, over what is sent always. Those that depend on secrets alone are rendered once."""

    def __init__(
        self,
        written: Mapping[str, str],
        secrets: Mapping[str, str],
        *,
        authorization: str | None = None,
        signed: bool = False,
    ) -> None:
        for name in written:
            _vet_name(name, signed=signed)
        given = [*written, "Authorization"] if authorization is not None else [*written]
        self.names = frozenset(name.lower() for name in given)
        if len(self.names) < len(given):
            raise ConfigError("request.headers: a header is given twice (Authorization also by `auth`)")
        templates = {name: Template(text, f"request.headers.{name}") for name, text in written.items()}
        self.from_secrets = [name for name, template in templates.items() if template.secret]
        self.private = frozenset([*self.from_secrets, "Authorization"])
        self._varying = {name: template for name, template in templates.items() if template.varies}
        self._fixed = {name: value for name, value in _ALWAYS.items() if name.lower() not in self.names}
        if authorization is not None:
            self._fixed["Authorization"] = authorization
        self._fixed |= _rendered_once(templates, secrets)

    @property
    def varying(self) -> Iterable[Template]:
        """The templates that see the action."""
        return self._varying.values()

    def render(self, names: Names) -> dict[str, str]:
        """The headers of one request."""
        headers = self._fixed.copy()
        for name, template in self._varying.items():
            headers[name] = _value(template, names)
        return headers


def _rendered_once(templates: Mapping[str, Template], secrets: Mapping[str, str]) -> dict[str, str]:
    fixed = {name: template for name, template in templates.items() if not template.varies}
    try:
        return {name: _value(template, {"secrets": secrets}) for name, template in fixed.items()}
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _vet_name(name: str, *, signed: bool) -> None:
    if not _TOKEN.fullmatch(name):
        raise ConfigError(f"request.headers: {name[:100]!r} is no header name")
    if _RESERVED.fullmatch(name) or (signed and name.lower().startswith("webhook-")):
        raise ConfigError(f"request.headers: {name} is set by the client itself")


def _value(template: Template, names: Names) -> str:
    value = template.render(names)
    try:
        text = (value if isinstance(value, str) else as_json(value)).strip(" \t")
    except FAULTS as fault:
        raise TemplateFaultError(f"{template.where}: {reason(fault)}") from None
    if _UNFIT.search(text):
        raise HeaderError(f"{template.where}: it holds a character that no header can carry")
    return text
