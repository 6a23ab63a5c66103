"""`python -m caboose` is the `caboose` command."""

from caboose.cli import main

if __name__ == "__main__":
    main()
