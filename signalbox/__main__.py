"""`python -m signalbox` is the `signalbox` command."""

from signalbox.cli import main

if __name__ == "__main__":
    main()
