"""The worker: jobs from an SQS queue, one at a time, on a base that runs any `run(job, context) -> outcome`.

Model. A message is a job. Whoever receives it holds it for a visibility timeout, which a thread extends for
as long as the work itself shows life. The object store remembers across deliveries: checkpoints, how often
the job was begun, its result, and that its end was told. Every delivery comes to exactly one outcome
(`pipeline.py`), and the outcome is settled in an order in which a crash anywhere loses nothing:

    result in the store -> end told on the status queue -> end noted in the store -> message deleted

A crash before the result repeats the work from its last chunk; after the result, the next delivery finds it
and tells the end; after the note, it only deletes. Between telling and noting an end may be told twice: a
FIFO status queue drops the second (same deduplication id), and the ledger lets the first end of a run stand.

Window of trust. A worker that was stopped for longer than the visibility timeout may work beside another one.
Both compute the same bytes under the same keys, and only one end counts.
"""
