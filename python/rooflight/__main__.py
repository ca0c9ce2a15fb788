"""`rooflight predict ...`, `rooflight plan ...` and `rooflight evaluate ...`: the programs, under one name."""

import os
import subprocess
import sys

from rooflight._programs import NAMES, Failed, program


def main():
    name, *arguments = sys.argv[1:] or [""]
    if name not in NAMES:
        sys.exit(f"usage: rooflight {'|'.join(NAMES)} ...")
    try:
        command = [program(name), *arguments]
    except Failed as missing:
        sys.exit(str(missing))
    if os.name == "posix":
        os.execv(command[0], command)
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
