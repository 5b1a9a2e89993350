#!/usr/bin/env python
"""Django's commands. `migrate` works as the owner of the tables, `sweep` as the sweep, the rest as the application."""

import os
import sys


def main() -> None:
    kind = {"migrate": "migrate", "prepare": "migrate", "sweep": "sweep"}.get(
        sys.argv[1] if len(sys.argv) > 1 else "", "command"
    )
    os.environ.setdefault("PLACET_PROCESS", kind)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "runtime.settings")
    from django.core.management import execute_from_command_line

    from runtime.environment import BadEnvironment

    try:
        execute_from_command_line(sys.argv)
    except BadEnvironment as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
