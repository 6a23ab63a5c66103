"""`python`: calls a function of yours, in a process with limits on time and memory.

The path of an action: handler.py -> the pool of switchyard/process/bounded -> call.py, in a child process,
imports the function by name and calls it -> the answer becomes an outcome, and its result output.json.
"""
