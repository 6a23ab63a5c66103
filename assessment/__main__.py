"""`python -m assessment`."""

from assessment.cli import main

main()
