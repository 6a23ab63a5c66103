"""`python -m assessment`."""

from assessment.program import main

main()
