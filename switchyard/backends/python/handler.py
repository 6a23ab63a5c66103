"""`python`: passes an action to a child process and turns its answer into an outcome."""

import json
import os
from typing import Any

from switchyard.backends.python import call
from switchyard.backends.python.model import PythonAction
from switchyard.backends.threads import Threads
from switchyard.config.secrets import SecretRef
from switchyard.errors import ConfigError, EvaluationFailed, LimitExceeded, PoolUnavailable, StoreError
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Success, Work
from switchyard.places import Places
from switchyard.process.bounded.pool import Pool
from switchyard.process.redact import redact

IMPORT_SECONDS = 60.0  # of CPU time, for the first import
HOPELESS = {"CPU time", "memory", "result", "depth"}  # another attempt would come to the same


class PythonHandler:
    """One pool of processes per action name."""

    def __init__(self, name: str, action: PythonAction, context: HandlerContext) -> None:
        self.name = name
        self._action, self._store = action, context.store
        self._size = action.concurrency * context.config.conductor.workers
        self._cpu_time = action.limits.cpu_time or action.timeout * (os.cpu_count() or 1)
        self._threads = Threads(min(action.concurrency, 32))
        self._pool: Pool | None = None

    async def start(self) -> None:
        """See that the function can be imported, then import it for all processes."""
        module = self._action.function.partition(":")[0]
        environment = self._environment()
        first = Pool(size=2, environment=environment)
        try:
            problem = await first.run(
                call.problem, self._action.function, seconds=IMPORT_SECONDS, memory=self._action.limits.memory
            )
        except (LimitExceeded, EvaluationFailed) as error:
            problem = f"{self._action.function} cannot be imported: {error}"
        finally:
            await self._threads.run(first.close)
        if problem:
            raise ConfigError(redact(problem))
        # A group leaves one child to the others, and this pool has one group.
        self._pool = Pool(
            size=self._size + 1, preload=[call.__name__, module], environment=environment, repeat=False
        )

    async def dispatch(self, work: Work, /) -> Outcome:
        """Call the function once."""
        assert self._pool is not None
        try:
            answer = await self._pool.run(
                call.call,
                self._action.function,
                json.dumps(dict(work.parameters)).encode(),
                _about(work),
                seconds=self._cpu_time,
                memory=self._action.limits.memory,
                group=self.name,
            )
        except LimitExceeded as error:
            return self._exceeded(error.limit)
        except EvaluationFailed as error:
            return Retry(redact(f"{error.kind}: {error.message}"))
        except PoolUnavailable as error:
            return Retry(f"no process could be started: {error}", sent=False)
        return await self._outcome(work, answer)

    async def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            await self._threads.run(self._pool.close)

    def _environment(self) -> dict[str, str]:
        ours = {name: os.environ[name] for name in self._action.pass_env if name in os.environ}
        given = {
            name: value.resolve() if isinstance(value, SecretRef) else value
            for name, value in self._action.env.items()
        }
        return ours | given

    def _exceeded(self, limit: str) -> Outcome:
        function = self._action.function
        if limit == "crash":
            return Retry(f"the process of {function} ended unexpectedly")
        kind = Failed if limit in HOPELESS else Retry
        return kind(f"{function} exceeded its limit of {limit}")

    async def _outcome(self, work: Work, answer: list[Any]) -> Outcome:
        match answer:
            case [call.DONE, None]:
                return Success()
            case [call.DONE, output]:
                return await self._stored(work, output)
            case [call.INVALID, error]:
                return Invalid(redact(error))
            case [call.FAILED, error, trace]:
                return Failed(redact(error), {"traceback": redact(trace)} if trace else {})
            case [call.RETRY, error, trace, delay]:
                return Retry(redact(error), delay, detail={"traceback": redact(trace)})
        raise AssertionError(answer)

    async def _stored(self, work: Work, output: str) -> Outcome:
        key = Places(work.uuid, work.run).output
        try:
            await self._threads.run(self._store.put, key, output.encode())
        except StoreError as error:
            return Retry(f"the result could not be stored: {error}")
        return Success({"output": key})


def _about(work: Work) -> dict[str, Any]:
    return {
        "uuid": str(work.uuid),
        "run": work.run,
        "attempt": work.attempt,
        "last_attempt": work.last_attempt,
        "action_name": work.action_name,
        "correlation_id": work.correlation_id,
    }
