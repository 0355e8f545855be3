"""Run the command line interface: ``python -m likewise``."""

from likewise.cli.main import run

if __name__ == "__main__":
    run()
