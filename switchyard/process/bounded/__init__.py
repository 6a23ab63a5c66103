"""Evaluates untrusted input in child processes with limits on time and memory.

    pool = Pool(preload=evaluate.PRELOAD)
    problems = await pool.run(evaluate.schema_problems, schema, value, group=action_name)  # asyncio
    problems = pool.call(evaluate.schema_problems, schema, value)  # any thread

A call that exceeds a limit raises LimitExceeded, and only its child is replaced; other calls are not
affected. The time limit counts CPU time, so that calls do not fail on a busy machine; a generous limit on
elapsed time is for a child that hangs. The limit on memory counts from what the child has when the call
starts.

- A function is named by its module and name, and imported by the child. Arguments are plain data, pickled
  here; results come back as JSON, so that a child has no way to run code in the parent. Pass a large document
  as the bytes of its JSON and let the child parse it: pickling a large object holds the interpreter lock.
- Calls of one `group` (an action name) use all children but one, and groups take turns.
- More than `waiting` calls in the queue raise PoolUnavailable. A cancelled call leaves the queue, or
  its child is ended.
- A child that dies by itself (a crash in C, the out-of-memory killer) is replaced and the call repeated once,
  unless `repeat=False`: for calls that have effects.
- The children are forked from a server that has no threads (child.py) and is started at the first
  call. Everything ends with `close()`, or with this process, by kill -9 too.

A call takes 0.2 to 0.4 ms more than the function itself, most of it CPU time of this process, and a new child
10 to 30 ms (measured on 2 cores with a load of 7); the first call waits for the server and the imports of
`preload`. So what is cheap by its size (a few values, a plain path) is better evaluated in place.

The path of a call: pool.py (Pool.run) -> queue.py (waits, groups in turn) -> a thread of the pool
-> server.py (Child.ask, over a socket) -> child.py (limits, function, JSON) -> the caller's future.
"""
