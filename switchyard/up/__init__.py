"""Everything on one machine: what `switchyard up`, `make run` and `make demo` start.

folder.py     the data of all: a second start continues where the first stopped
sample.py     a region made up, and one assessment of its sites
programs.py   each program with its own log, bound to us by bound.py; orphans.py ends what workflows leave
receiver.py   receives the webhooks, and checks their signatures
screen.py     shows the sample and what follows from it; results.py prints what it produced
stop.py       Ctrl-C, SIGTERM and the end of the terminal
"""
