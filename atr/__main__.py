"""`python -m atr` is the command `atr`."""

from atr.cli import main

main()
