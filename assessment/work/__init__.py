"""The worker: jobs from an SQS queue, one at a time, on a base that runs any `run(job, context) -> outcome`.

Model. A message is a job. Its receiver has it for a visibility timeout, which a thread extends as long as the
work makes progress. The object store persists state across deliveries: checkpoints, the number of attempts,
the result, and a note that the end was reported. Every delivery has exactly one outcome (`pipeline.py`), and
outcomes are settled in an order in which a crash at any point loses nothing:

    result in the store -> end reported on the status queue -> report noted in the store -> message deleted

After a crash before the result, the work resumes from its last chunk. After the result, the next delivery
finds it and reports the end; after the note, it only deletes the message. Between report and note, an end may
be reported twice: a FIFO status queue drops the second (same deduplication id), and in the ledger the first
end of a run counts.

Window of trust. A worker that was suspended for longer than the visibility timeout may run in parallel with
another one. Both compute the same bytes under the same keys, and only one end counts.
"""
