"""The command line: one file per command, each: parse → call the library → print.

Nothing heavy is imported before a command runs, so that `podium --help` answers at once.
"""
