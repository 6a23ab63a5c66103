"""SQS: messages that come twice or late, and a queue that does not answer."""

from typing import TYPE_CHECKING

from tests.faults.inject.strike import Heal, Missed, in_use, over
from tests.faults.jobs import Jobs
from tests.faults.plan import Fault
from tests.faults.yard import Yard

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

WAIT = 1  # seconds: where the queue is empty, something may be just coming


def duplicate(yard: Yard, fault: Fault) -> Heal:
    """A message that is on the queue, or one that was there some time ago, is delivered again."""
    jobs = _jobs(yard)
    known = yard.remembered[fault.target]
    known += _seen(jobs, fault.target, hidden=0)
    if not known:
        raise Missed
    again = known[int(fault.amount * len(known))]
    jobs.sqs.send_message(
        QueueUrl=jobs.queues[fault.target],
        MessageBody=again["Body"],
        MessageAttributes=again.get("MessageAttributes", {}),
    )
    return over


def late(yard: Yard, fault: Fault) -> Heal:
    """Up to ten messages are kept back, so that others overtake them."""
    found = _seen(_jobs(yard), fault.target, hidden=round(1 + 5 * fault.amount))
    yard.remembered[fault.target] += found
    if not found:
        raise Missed
    return over


def outage(yard: Yard, fault: Fault) -> Heal:
    """Nobody answers, or nobody listens."""
    network = in_use(_jobs(yard).network)
    if fault.amount < 0.5:
        network.refuse()
    else:
        network.silence()
    return network.resume


def hang_up(yard: Yard, fault: Fault) -> Heal:
    """Every connection to the queues is reset."""
    in_use(_jobs(yard).network).cut()
    return over


def _jobs(yard: Yard) -> Jobs:
    assert yard.jobs is not None
    return yard.jobs


def _seen(jobs: Jobs, queue: str, hidden: int) -> "list[MessageTypeDef]":
    answer = jobs.sqs.receive_message(
        QueueUrl=jobs.queues[queue],
        MaxNumberOfMessages=10 if hidden else 1,
        VisibilityTimeout=hidden,
        WaitTimeSeconds=WAIT,
        MessageAttributeNames=["All"],
    )
    return answer.get("Messages", [])
