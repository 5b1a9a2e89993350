"""Make `.venv` with the pinned packages, then go on in it: `python -m runtime.install REQUIREMENTS MODULE [ARGUMENT…]`.

Runs under any Python from 3.11 on, before a package is installed, so it uses the standard library alone. Packages are
installed when the list or the Python has changed since the last time; a folder that was left half made is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from runtime.console import say

BASE: Final = Path(__file__).resolve().parent.parent
VENV: Final = BASE / ".venv"
PYTHON: Final = VENV / "bin" / "python"


class NotInstalled(Exception):
    """The packages cannot be installed; the message is a sentence that says what to do."""


def main(requirements: str, module: str, *arguments: str) -> None:
    if sys.version_info < (3, 11):
        raise NotInstalled(f"Placet needs Python 3.11 or later; this is {sys.version.split()[0]}.")
    lock = os.open(BASE, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        install(BASE / requirements)
    finally:
        os.close(lock)
    os.execv(PYTHON, [str(PYTHON), "-m", module, *arguments])


def install(requirements: Path) -> None:
    """Bring `.venv` to what the file lists. Raises NotInstalled."""
    stamp = VENV / f".installed-{requirements.stem}"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    usable = _usable()
    if usable and stamp.exists() and stamp.read_text() == wanted:
        return
    if not usable:
        make_environment()
    say(f"Installing the packages of {requirements.name} …")
    if not (_with_uv(requirements) or _with_pip(requirements)):
        raise NotInstalled("The packages could not be installed; the lines above say why. Is there a network?")
    stamp.write_text(wanted)


def make_environment() -> None:
    """Make an empty `.venv`. Raises NotInstalled where this Python cannot."""
    say(f"Making {VENV.name} with Python {sys.version.split()[0]} …")
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True)
    if made.returncode == 0:
        return
    # Debian splits ensurepip from Python. uv, or a pip outside, can still fill a bare environment.
    shutil.rmtree(VENV, ignore_errors=True)
    bare = subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(VENV)], capture_output=True, text=True)
    if bare.returncode or not (shutil.which("uv") or _runs(sys.executable, "-m", "pip", "--version")):
        shutil.rmtree(VENV, ignore_errors=True)
        said = (made.stderr or made.stdout).strip().splitlines()[-1:]
        raise NotInstalled(
            "This Python cannot make a virtual environment (Debian: apt-get install python3-venv). " + " ".join(said)
        )


def _usable() -> bool:
    """Whether `.venv` works: it may be half made, moved, or its Python may have been removed."""
    if not PYTHON.exists():
        return False
    ask = "import sys; print(sys.prefix != sys.base_prefix and sys.version_info >= (3, 11), sys.prefix)"
    said = subprocess.run([PYTHON, "-c", ask], capture_output=True, text=True)
    return said.returncode == 0 and said.stdout.split(" ", 1) == ["True", f"{VENV}\n"]


def _with_uv(requirements: Path) -> bool:
    """Install with uv, fetched by pip if it is not here: it is several times as fast."""
    uv = shutil.which("uv") or str(VENV / "bin" / "uv")
    if not Path(uv).exists() and not _runs(PYTHON, "-m", "pip", "install", "--quiet", "uv"):
        return False
    words = ("pip", "install", "--python", PYTHON, "--require-hashes", "-r", requirements)
    return _shows(uv, *words)


def _with_pip(requirements: Path) -> bool:
    """Install with pip: slower, but it knows this machine's own indexes and certificates."""
    say("uv could not, so pip does it: half a minute …")
    own = _runs(PYTHON, "-m", "pip", "--version")
    pip = (PYTHON, "-m", "pip") if own else (sys.executable, "-m", "pip", "--python", PYTHON)
    return _shows(*pip, "install", "--no-input", "--progress-bar", "on", "--require-hashes", "-r", requirements)


def _runs(*words: str | Path) -> bool:
    return subprocess.run(words, capture_output=True).returncode == 0


def _shows(*words: str | Path) -> bool:
    """Run it and pass on what it says, but for the long list of what was installed."""
    with subprocess.Popen(words, cwd=BASE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        for line in running.stdout or ():
            if not line.startswith((" + ", " - ", " ~ ")):
                say(f"  {line.rstrip()}")
    return running.returncode == 0


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except NotInstalled as error:
        sys.exit(f"  {error}")
    except KeyboardInterrupt:
        sys.exit(130)
