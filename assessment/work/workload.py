"""The assessment as a workload: takes a job message, writes results under its output and saves chunks."""

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assessment import request as requests
from assessment.bundle import versions
from assessment.bundle.bundle import Bundle, open_bundle
from assessment.bundle.schema import NEEDS
from assessment.intake.fetch import fetched
from assessment.intake.reader import Reader
from assessment.job import Inputs, Target, carry_out
from assessment.output.deliver import OUTPUT
from assessment.request import Given, Request
from assessment.work.context import Context
from assessment.work.job import Job, key_in
from assessment.work.outcome import Done
from assessment.work.policy import Workload
from switchyard.errors import BadInput, ConfigError, StoreMissing, Transient
from switchyard.store import Store

LONGEST_REQUEST = 4 * 2**20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass
class Assessments:
    """Runs assessments. Keeps bundles open between jobs, which makes a warm worker fast."""

    home: Path
    reader: Reader = field(default_factory=Reader)
    _open: dict[Path, Bundle] = field(default_factory=dict)

    def run(self, job: Job, context: Context) -> Done:
        context.progress(0.0, "reading the request")
        self.reader.start()
        request = request_of(job, context.store)
        bundle = self.bundle(request.bundle)
        bundle.require(request.job.assessment)
        with ExitStack() as stack:
            inputs = _inputs(request, context.store, stack)
            done = carry_out(
                request.job,
                inputs,
                bundle,
                Target(context.store, job.output, request.formats),
                progress=context.progress,
                chunks=context.chunks(),
                reader=self.reader,
            )
        return Done(done.files[OUTPUT])

    def weigh(self, job: Job, store: Store) -> tuple[str, float]:
        """The kind of assessment and the size of its input, which is good enough for an estimate."""
        given = job.content.get("input")
        key = given.get("key") if isinstance(given, dict) else None
        size = store.size(key) if isinstance(key, str) else None
        return str(job.content.get("assessment", "nutrient"))[:20], float(size or len(json.dumps(given)))

    def bundle(self, version: str | None) -> Bundle:
        """The current version, or the version that the job names; paths in messages are refused."""
        folder = versions.current(self.home) or self.home
        if version is not None and version != folder.name:
            _plain(version, "bundle")
            if self._opened(folder).version == version:
                return self._opened(folder)
            folder = self.home / version
            if not folder.is_dir():
                raise Transient(f"this worker does not have the bundle {version}")
        return self._opened(folder)

    def _opened(self, folder: Path) -> Bundle:
        """Open a bundle; unreadable ones are a ConfigError: exit 78 at the start, a retry during a job."""
        if folder not in self._open:
            if len(self._open) >= versions.KEPT:
                self._open.clear()
            opened = open_bundle(folder)
            opened.verify()
            self._open[folder] = opened
        return self._open[folder]


def assessments(bundle: str) -> Workload:
    """The workload for a bundle's folder, which must exist at the start and suit an assessment."""
    made = Assessments(Path(bundle.removeprefix("file://")), Reader(spare=True))
    opened = made.bundle(None)
    missing = {kind: opened.missing(kind) for kind in NEEDS}
    if all(missing.values()):
        said = "; ".join(f"{kind}: no {', '.join(names)}" for kind, names in missing.items())
        raise ConfigError(f"bundle {opened.version} is complete for no assessment: {said}")
    return Workload(run=made.run, weigh=made.weigh)


def request_of(job: Job, store: Store) -> Request:
    """The request of a job: its message, completed with the parameters that conductor stored."""
    content = dict(job.content)
    stored = f"{job.home}/input.json"
    said = _stored(store, stored) if job.uuid else {}
    if content.get("input") == {"key": stored}:
        content["input"] = said.get("input") if said.get("type") is None else {"key": stored}
    merged = {**{name: said[name] for name in ("ponds", "formats", "layer") if name in said}, **content}
    if merged.get("edition") is not None:
        _plain(merged["edition"], "edition")
    return requests.parse(merged)


def _stored(store: Store, key: str) -> Mapping[str, Any]:
    try:
        content = json.loads(store.get(key, limit=LONGEST_REQUEST))
    except StoreMissing:
        return {}
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the request {key} is not JSON: {error}") from None
    return content if isinstance(content, dict) else {}


def _inputs(request: Request, store: Store, stack: ExitStack) -> Inputs:
    if request.sites is None:
        raise BadInput("the job has no input")
    ponds = None if request.ponds is None else _local(request.ponds, store, stack)
    return Inputs(sites=_local(request.sites, store, stack), ponds=ponds, layer=request.layer)


def _local(given: Given, store: Store, stack: ExitStack) -> Path:
    """A local copy of an input; messages can only name objects in the store."""
    if given.url is not None:
        given = Given(key=key_in(store, given.url, "the input"))
    return stack.enter_context(fetched(given, store))


def _plain(name: object, what: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ".toml" in name:
        raise BadInput(f"{what} {name!r:.100} is not a name")
