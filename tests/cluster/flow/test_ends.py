"""Every kind of end, from submit to callbacks delivered, with the spawned programs."""

from uuid import UUID

from switchyard.backends.argo.resource import workflows
from switchyard.execution import bucket_of
from tests.cluster.flow.conftest import Yards
from tests.cluster.flow.flows import FLOWS
from tests.cluster.flow.yard import Yard
from tests.parts.node import Node
from tests.waiting import until


def test_every_kind_of_end(yards: Yards, node: Node) -> None:
    yard: Yard = yards(FLOWS)
    yard.start()
    uuids = {
        name: yard.submit(name) for name in ("good", "nested", "approval", "terminated", "late", "deleted")
    }
    uuids["waker"] = yard.submit("waker", waiting=str(uuids["approval"]))
    meddled = (uuids["terminated"], uuids["deleted"])
    until(lambda: all(yard.ledger.status(uuid) == "RUNNING" for uuid in meddled), every=0.2)
    path = workflows(yard.namespace)
    yard.cluster.api.patch(f"{path}/{uuids['terminated']}", {"spec": {"shutdown": "Terminate"}})
    yard.cluster.api.delete(f"{path}/{uuids['deleted']}")
    until(lambda: yard.ledger.open() == 0, 90, every=0.3)
    threads = yard.ledger.threads()
    statuses = {name: threads[uuid][0] for name, uuid in uuids.items()}
    assert statuses == {
        "good": "SUCCESSFUL",
        "nested": "FAILED",
        "approval": "SUCCESSFUL",
        "waker": "SUCCESSFUL",
        "terminated": "CANCELED",
        "late": "TIMED_OUT",
        "deleted": "FAILED",
    }
    assert "exit code 65" in str(threads[uuids["nested"]][1])
    assert "exceeded its deadline" in str(threads[uuids["late"]][1])
    assert "vanished" in str(threads[uuids["deleted"]][1])
    assert threads[uuids["deleted"]][2], "somebody has to look"
    callbacks = yard.ledger.callbacks()
    assert callbacks[uuids["approval"], "reported"] == ("SUCCESSFUL", {"answer": "yes"})
    for name, uuid in uuids.items():
        assert callbacks[uuid, "done"] == ("SUCCESSFUL", {"status": statuses[name]})
        if name != "deleted":
            assert yard.archived(uuid)["status"]["phase"] in ("Succeeded", "Failed")
    until(lambda: yard.in_cluster() == [], every=0.3)


def test_what_turns_up_too_late_is_stopped_and_forgotten(yards: Yards) -> None:
    """A create that was on its way when its thread ended, was archived and forgotten; one of a run that is over."""
    yard: Yard = yards(FLOWS)
    yard.start()
    done = yard.submit("good")
    until(lambda: yard.ledger.status(done) == "SUCCESSFUL" and yard.in_cluster() == [], every=0.2)
    yard.database.execute("select switchyard.pause('argo', 'ann', 'test')")
    ended, again = yard.submit("good"), yard.submit("late")
    for uuid in (ended, again):
        yard.database.execute("select switchyard.cancel(%s, 'ann', 'test')", uuid)
    until(lambda: yard.ledger.open() == 0, every=0.2)
    yard.database.execute("select switchyard.retrigger(%s, 'ann', 'test')", again)
    for uuid in (done, ended, again):
        late(yard, uuid)
    until(lambda: yard.in_cluster() == [], every=0.2)
    notes = yard.database.execute(
        "select distinct action_uuid from switchyard.event where status = 'INFO' and detail ->> 'note' like %s",
        "%asked to stop%",
    )
    assert {row[0] for row in notes} == {done, ended, again}
    statuses = {uuid: yard.ledger.status(uuid) for uuid in (done, ended, again)}
    assert statuses == {done: "SUCCESSFUL", ended: "CANCELED", again: "PENDING"}
    assert [name for uuid, name in yard.ledger.callbacks() if uuid == done] == ["done"]
    assert yard.archived(done)["status"]["phase"] == "Succeeded"
    assert yard.archived(ended)["metadata"]["name"] == str(ended)


def late(yard: Yard, uuid: UUID) -> None:
    """The create of run 1, arriving now."""
    labels = {
        "switchyard.dev/managed-by": "switchyard",
        "switchyard.dev/action": str(uuid),
        "switchyard.dev/shard": str(bucket_of(uuid)),
    }
    spec = FLOWS["terminated"]["manifest"]["spec"]
    body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": spec}
    metadata = {"name": str(uuid), "labels": labels}
    yard.cluster.api.create(workflows(yard.namespace), {**body, "metadata": metadata})
