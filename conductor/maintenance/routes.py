"""Announces each workflow (the action name that runs it, its schemas, what may be reused), and the lanes and
limits of names.

A submission by SQL then needs the workflow only, and finds its lane like any other.
"""

import json
from collections.abc import Callable, Collection

from conductor.maintenance.own_session import OwnSession
from conductor.session.session import Session
from switchyard.config.config import Config
from switchyard.config.flows import flows_of
from switchyard.config.workflows import Workflow
from switchyard.ledger.queries import query

ANNOUNCE = query("conductor", "announce")
WITHDRAW = query("conductor", "withdraw")
ANNOUNCE_FLOWS = query("conductor", "announce_flows")
WITHDRAW_FLOWS = query("conductor", "withdraw_flows")
EVERY = 10.0
TRIES = 6  # while conductors with the configuration before may still run
AGREED = 600.0  # after that; nothing notifies of the end of a conductor with another configuration

Served = tuple[Config, Collection[str]]


class Routes:
    """Announces only at the start and after a reload; while two configurations run, the newer one applies."""

    name = "routes"

    def __init__(self, own: OwnSession, served: Callable[[], Served]) -> None:
        self._own = own
        self._served = served  # asked at every call: the configuration may have been reloaded
        self._announced: Served | None = None
        self._tries = 0

    async def run_once(self) -> float:
        """Announce served workflows; withdraw unconfigured ones once all conductors agree on that."""
        config, names = served = self._served()
        known = {"workflows": sorted(config.workflows), "config_hash": config.fingerprint()}
        async with self._own.session() as session:
            if served != self._announced:
                await _announce(session, config, names)
            await session.rows(WITHDRAW, known)
            keys = [flow["flow"] for name in config.actions for flow in flows_of(config, name)]
            await session.rows(WITHDRAW_FLOWS, {"flows": keys, "config_hash": config.fingerprint()})
        self._tries = 0 if served != self._announced else self._tries + 1
        self._announced = served
        return EVERY if self._tries < TRIES else AGREED


def _rule(workflow: Workflow) -> str | None:
    return None if workflow.reuse is None else json.dumps(workflow.reuse.rule())


class Announcement:
    """Announces a name before its first worker registers, so that registered workers always have limits."""

    def __init__(self, own: OwnSession, config: Config) -> None:
        self._own = own
        self._config = config
        workflows = {workflow.action for workflow in config.workflows.values()}
        self._open = {name for name in config.actions if name in workflows or flows_of(config, name)}

    async def of(self, name: str) -> None:
        """Announce once; a worker whose call failed tries again with its next session."""
        if name not in self._open:
            return
        async with self._own.session() as session:
            if name in self._open:
                await _announce(session, self._config, [name])
                self._open.remove(name)


async def _announce(session: Session, config: Config, names: Collection[str]) -> None:
    """Announce the workflows, lanes and limits that this configuration has for these names."""
    workflows = [(key, workflow) for key, workflow in config.workflows.items() if workflow.action in names]
    if workflows:
        values = {
            "workflows": [key for key, _ in workflows],
            "names": [workflow.action for _, workflow in workflows],
            "about": [json.dumps(workflow.about()) for _, workflow in workflows],
            "reuse": [_rule(workflow) for _, workflow in workflows],
        }
        await session.rows(ANNOUNCE, values)
    flows = [flow for name in sorted(names) for flow in flows_of(config, name)]
    if flows:
        await session.rows(ANNOUNCE_FLOWS, {"flows": json.dumps(flows)})
