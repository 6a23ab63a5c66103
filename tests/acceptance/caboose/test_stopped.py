"""A caboose that is stopped while it holds a thread's lock: whoever marks it lost frees the thread."""

import json

from tests.acceptance.caboose.conftest import Stations
from tests.parts.aws import AwsPart
from tests.parts.proxy import Proxy
from tests.waiting import until

FLOWS = {"flow": {"action": "run", "callbacks": [{"name": "done", "action": "hook"}]}}
LOCKED = "select count(*) from pg_locks where locktype = 'advisory' and granted and objsubid = 1"


def test_one_that_is_stopped_in_mid_forget_keeps_no_lock_once_it_is_lost(
    stations: Stations, elasticmq: AwsPart
) -> None:
    status = elasticmq.queue()
    with Proxy(elasticmq.port) as proxy:
        queues = {"queue": "jobs", "status_queue": status.rsplit("/", 1)[1], "wait": "1s"}
        station = stations(
            FLOWS,
            environ=elasticmq.environ,
            workers={"beat": "500ms"},
            actions={
                "run": {"type": "sqs", **queues, "endpoint": f"http://127.0.0.1:{proxy.port}"},
                "hook": {"type": "noop"},
            },
        )
        uuid = station.submit("flow")
        execute = station.database.execute
        execute(
            "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, 'QUEUED', 1, 1)",
            uuid,
        )
        told = {"version": 1, "action_uuid": str(uuid), "run": 1, "status": "SUCCESSFUL"}
        elasticmq.sqs().send_message(QueueUrl=status, MessageBody=json.dumps(told))
        with station.database.connect() as conductor:
            conductor.execute("select pg_advisory_lock(switchyard.uuid_lock(%s))", [uuid])
            station.caboose.start()
            until(lambda: station.ledger.statuses(uuid) == ["SUCCESSFUL"])
            proxy.silence()
        until(lambda: execute(LOCKED) == [(1,)])  # it forgets, and its acknowledgement is not answered
        station.caboose.pause()
        assert execute(
            "select kind, terminated from (select array_agg(worker_id) as workers, array_agg(beat_at) as beats"
            " from switchyard.worker where beat_at < now() - interval '0 s') as silent,"
            " switchyard.mark_lost(silent.workers, silent.beats)"
        ) == [("caboose", True)]
        until(lambda: execute(LOCKED) == [(0,)])
        station.caboose.resume()
        proxy.resume()
        until(lambda: station.caboose.get("/readyz")[0] == 200)
        until(lambda: _left(elasticmq, status) == 0)
        until(lambda: sorted(execute("select state from switchyard.fleet")) == [("lost",), ("running",)])
        assert execute("select status::text from switchyard.event order by event_id") == [
            ("QUEUED",),
            ("SUCCESSFUL",),
        ]
        assert station.caboose.stop() == 0


def _left(part: AwsPart, queue: str) -> int:
    answer = part.sqs().get_queue_attributes(
        QueueUrl=queue,
        AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
    )
    return sum(int(number) for number in answer["Attributes"].values())
