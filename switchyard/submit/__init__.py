"""Submitting actions from Python: a submission commits or rolls back with the caller's transaction.

    Submission                   what a caller asks for (submission.py); constructing one checks nothing
      -> accept(…, config)       every check, with a problem for each field that is wrong (check.py);
                                 a workflow's action name is filled in from the configuration
      -> Request                 the same with its JSON encoded, ready for the database
      -> write_one, write_many   the SQL functions `submit` and `submit_many`, or COPY where no idempotency
                                 key is used (write.py)

`submit`, `submit_async` and `submit_many` do all of it. With a configuration, names that it does not serve
and parameters that fail a schema are refused here; without one the ledger accepts them. One depth and one
size limit the JSON (switchyard/ledger/jsonb.py). Where the process has called `tracing.configure`, each
submission is the root of its trace (docs/adr/0042).
"""

from switchyard.submit.submission import Submission
from switchyard.submit.write import submit, submit_async, submit_many

__all__ = ["Submission", "submit", "submit_async", "submit_many"]
