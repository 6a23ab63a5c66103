"""`python -m conductor` is the `conductor` command."""

from conductor.cli import main

if __name__ == "__main__":
    main()
