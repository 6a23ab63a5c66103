"""Carry out `assessment run`: fetch the inputs, open the bundle, deliver the results."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assessment import request as requests
from assessment.bundle.bundle import open_bundle
from assessment.checkpoints import StoreChunks
from assessment.cli.allowed import Allowed
from assessment.intake.fetch import fetched
from assessment.job import Done, Inputs, Target, carry_out
from assessment.output.formats import formats_of
from assessment.progress import Progress
from assessment.request import Given, Request
from switchyard.errors import BadInput, ConfigError
from switchyard.store import Store, open_store

CHECKPOINT = "checkpoint"


@dataclass(frozen=True)
class Words:
    """The command line options and the environment, as given."""

    file: str | None
    bundle: str | None
    assessment: str | None
    mode: str | None
    edition: str | None
    ponds: str | None
    layer: str | None
    allow_url: tuple[str, ...]
    out: str
    formats: tuple[str, ...]
    report: bool
    store: str | None
    resume: bool
    request: dict[str, Any] | None


def task(words: Words, progress: Progress, stack: ExitStack) -> Done:
    if words.request is not None:
        Allowed((*words.allow_url, *([words.store] if words.store else []))).check(words.request)
    request = _request(words)
    if request.bundle is None:
        raise ConfigError("no reference bundle: give --bundle or set SWITCHYARD_BUNDLE")
    bundle = open_bundle(request.bundle)
    bundle.require(request.job.assessment)
    store = open_store(words.store) if words.store else None
    target = open_store(_url(words.out))
    inputs = Inputs(
        sites=_local(words.file, request.sites, store, stack),
        ponds=_local(words.ponds, request.ponds, store, stack) if words.ponds or request.ponds else None,
        layer=words.layer or request.layer,
    )
    return carry_out(
        request.job,
        inputs,
        bundle,
        Target(target, "", request.formats, words.report),
        progress=progress,
        chunks=StoreChunks(target, CHECKPOINT) if words.resume else None,
    )


def _request(words: Words) -> Request:
    """The request from the environment, if any, overridden by the command line."""
    base = requests.parse(words.request or {})
    said = words.request or {}
    job = requests.job_spec(
        words.assessment or said.get("assessment", "nutrient"),
        words.mode or said.get("mode"),
        words.edition or said.get("edition"),
    )
    formats = formats_of(words.formats) if words.formats else base.formats
    return replace(base, job=job, bundle=words.bundle or base.bundle, formats=formats)


def _local(word: str | None, given: Given | None, store: Store | None, stack: ExitStack) -> Path:
    """A local path for an input: the file itself, or a copy of the object in the store."""
    if word is not None:
        path = Path(word)
        if path.exists() or not (store or "://" in word):
            return path
        given = Given(url=word) if "://" in word else Given(key=word)
    if given is None:
        raise BadInput("the request has no input")
    return stack.enter_context(fetched(given, store))


def _url(out: str) -> str:
    return out if "://" in out else Path(out).resolve().as_uri()
