"""The worker: jobs from an SQS queue, one at a time, on a base that runs any `run(job, context) -> outcome`.

Model. A message is a job. Its receiver holds it for a visibility timeout, which a thread extends for
as long as the work itself shows life. The object store remembers across deliveries: checkpoints, how often
the job was begun, its result, and that its end was reported. Every delivery comes to exactly one outcome
(`pipeline.py`), and the outcome is settled in an order in which a crash anywhere loses nothing:

    result in the store -> end reported on the status queue -> report noted in the store -> message deleted

A crash before the result repeats the work from its last chunk; after the result, the next delivery finds it
and reports the end; after the note, it only deletes. Between report and note an end may be reported twice: a
FIFO status queue drops the second (same deduplication id), and in the ledger the first end of a run counts.

Window of trust. A worker that was stopped for longer than the visibility timeout may work beside another one.
Both compute the same bytes under the same keys, and only one end counts.
"""
