"""Finds the programs and runs them."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

NAMES = ("predict", "plan", "evaluate")


class BadInput(ValueError):
    """A scenario, a request or an argument is wrong, or has no answer. `answer` holds what the program said, with its issues."""

    def __init__(self, text, answer=None):
        super().__init__(text)
        self.answer = answer


class Failed(RuntimeError):
    """A program failed: a file that cannot be read, say."""


def program(name):
    """The path of `predict`, `plan` or `evaluate`: in the folder `ROOFLIGHT_BIN` if that is set, else where the package was
    installed, else on the path."""
    if name not in NAMES:
        raise BadInput(f"no program {name}: there are {', '.join(NAMES)}")
    name += ".exe" if os.name == "nt" else ""
    chosen = os.environ.get("ROOFLIGHT_BIN")
    if chosen:
        path = Path(chosen) / name
        # Another program of that name could be of another version.
        if not path.is_file():
            raise Failed(f"{name} is not in {chosen}, the folder ROOFLIGHT_BIN names")
        return str(path)
    # The last is where `pip install --target` puts them.
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    folders += [Path(sys.executable).parent, Path(__file__).parents[1] / "bin"]
    for folder in filter(None, folders):
        path = Path(folder) / name
        if path.is_file():
            return str(path)
    found = shutil.which(name)
    if not found:
        raise Failed(f"{name} is not installed beside the package: set ROOFLIGHT_BIN to its folder")
    return found


def run(name, arguments, text=None, accepted=()):
    """The ended process, with what it printed. `text` is its standard input.

    Raises `BadInput` at exit status 2 and `Failed` at any other, unless it is `accepted` and there are answers: wrong arguments
    also end with status 2, but print none.
    """
    outcome = subprocess.run(
        [program(name), *arguments], input=text, capture_output=True, encoding="utf-8", check=False
    )
    if outcome.returncode == 0 or (outcome.returncode in accepted and outcome.stdout.strip()):
        return outcome
    said = outcome.stderr.strip() or f"{name} ended with {outcome.returncode}"
    raise BadInput(said) if outcome.returncode == 2 else Failed(said)
