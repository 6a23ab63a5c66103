"""A mutation test of the core modules and of the SQL functions: `make mutants`.

`python_changes` and `sql_changes` list every small change of a file that should make a test fail. `plan` reads
`modules.toml`, which maps files to their tests, and draws a sample by a seed. `tree` copies the checkout; `trial` applies
one change to the copy and runs the tests on it; `coverage_map` limits them to the tests that execute the changed lines.
`known` reads `harmless.toml`: changes that cannot be observed, or that do no harm, each with its reason.
"""
