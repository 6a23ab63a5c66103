"""A deployment for tests: a database, a configuration, and the programs that are spawned on them.

`configuration.write` is the only writer of switchyard.yaml. `Deployment` writes it, spawns conductor, caboose and
commands with it (`Program`), and kills at its end what still runs. `Ledger` is a typed view of the database: submit,
and read what became of it. Tests of one area add what only they need in a subclass: caboose's spool, Argo's
cluster. Tests that run the engines in their own process (conductor's yard, caboose's world) use `Ledger`
alone. An assessment worker is a `Service` as well: it has no database, but logs and answers as programs do.
"""
