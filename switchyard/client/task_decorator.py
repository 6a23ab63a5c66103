"""`@yard.task`: a function that can be called here, or submitted as an action and called by conductor."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from switchyard.errors import BadInput

P = ParamSpec("P")
Returned = TypeVar("Returned")
Submitted = TypeVar("Submitted")  # UUID, or for the asynchronous client an awaitable of it

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Task(Generic[P, Returned, Submitted]):
    """A function with a name under which it is submitted; called directly, it is the function.

    Conductor serves the name with an action of type `python` whose `function` is this one.
    """

    def __init__(
        self, submit: Callable[..., Submitted], function: Callable[P, Returned], name: str | None
    ) -> None:
        functools.update_wrapper(self, function)
        self.name = name or function.__name__
        self._submit, self._function = submit, function
        self._signature = inspect.signature(function)
        others = [p.name for p in self._signature.parameters.values() if p.kind not in _NAMED]
        if others:
            message = f"a task's arguments have names: {self.name} cannot take {', '.join(others)}"
            raise BadInput(message)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Returned:
        return self._function(*args, **kwargs)

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Submitted:
        """Submit a call with these arguments, which must be JSON."""
        return self._submit(self.name, self._parameters(args, kwargs))

    def submit_with(self, options: dict[str, Any], *args: P.args, **kwargs: P.kwargs) -> Submitted:
        """The same with options of `Switchyard.submit`, like `idempotency_key` or `connection`."""
        return self._submit(self.name, self._parameters(args, kwargs), **options)

    def _parameters(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """The arguments by name; raises TypeError if they do not match, as in a call."""
        return dict(self._signature.bind(*args, **kwargs).arguments)
