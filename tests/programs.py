"""Programs that the tests need from the system: installed where we are root on Debian, else one line says which."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Final

from runtime.console import say

CHROMIUM: Final = ("chromium", "fonts-noto-cjk", "fonts-noto-color-emoji")
SPIN: Final = ("spin", "gcc", "libc6-dev")


def have_chromium() -> bool:
    """A browser on the path."""
    return have("Chromium", ("chromium",), CHROMIUM)


def have_spin() -> bool:
    """The model checker on the path, and the C compiler that it needs."""
    return have("Spin with a C compiler", ("spin", "cc"), SPIN)


def have(name: str, programs: tuple[str, ...], packages: tuple[str, ...]) -> bool:
    """Whether all programs are on the path, once they were installed where that can be done."""
    if all(map(shutil.which, programs)):
        return True
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _install(packages)
        if all(map(shutil.which, programs)):
            return True
    say(f"Missing: {name}. As root: apt-get install {' '.join(packages)}")
    return False


def _install(packages: tuple[str, ...]) -> None:
    say(f"Installing {', '.join(packages)} …")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", *words], stdout=subprocess.DEVNULL, env=quiet)
