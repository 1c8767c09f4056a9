"""`python -m podium`: the same as the command `podium`."""

from podium.cli.main import main

if __name__ == "__main__":
    main()
