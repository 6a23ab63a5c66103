"""One folder per backend: everything that knows one place where actions are done.

A folder holds, as far as its backend needs them:

    backend.py   the `Backend` record that pyproject.toml registers by entry point, one per type
    model.py     how the type is configured
    handler.py   conductor's side: dispatches an action and returns its outcome (switchyard/handlers.py)
    source.py    caboose's side: observes, stops and forgets executions (switchyard/sources.py)

The path of an action. Reading the configuration, `registry` loads the record of its type, and the model
validates its keys. Conductor asks `registry` for the handler of each action name and passes it claimed work;
a handler that runs workflows first calls `prepare`, which checks the parameters and stores the input. What
was handed over is seen by the source that caboose got from `registry`, until its end is recorded.

Conductor, caboose and switchyard.config import `registry` and `plugin` and no folder; folders import neither
program. So a backend is added by adding a folder, or by installing a package that looks like one.
"""
