"""Everything on one machine: what `switchyard up`, `make run` and `make demo` start."""
