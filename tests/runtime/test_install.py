"""`.venv`: made when it is missing or broken, filled when the list changes, left alone otherwise."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runtime import install
from runtime.install import NotInstalled
from runtime.stack import BASE


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A tree with an install.py of its own, no packages to install, and uv at hand: no network is needed."""
    root = tmp_path_factory.mktemp("tree")
    (root / "runtime").mkdir()
    for name in ("__init__.py", "install.py", "console.py"):
        shutil.copy(BASE / "runtime" / name, root / "runtime" / name)
    (root / "runtime" / "told.py").write_text("import sys\nprint('told', sys.prefix, *sys.argv[1:])\n")
    (root / "requirements.txt").write_text("")
    return root


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    argv = [sys.executable, "-m", "runtime.install", "requirements.txt", "runtime.told", *words]
    env = {**os.environ, "PATH": path}
    return subprocess.run(argv, cwd=tree, env=env, capture_output=True, text=True, timeout=120)


def test_the_environment_is_made_once_and_the_module_runs_in_it(tree):
    first, second = run(tree, "--flag", "a b"), run(tree)
    assert first.stdout.endswith(f"told {tree}/.venv --flag a b\n"), first.stdout + first.stderr
    assert "Installing" in first.stdout
    assert second.stdout == f"told {tree}/.venv\n"


def test_a_list_that_has_changed_is_installed(tree):
    run(tree)
    (tree / "requirements.txt").write_text("# another list\n")
    assert "Installing" in run(tree).stdout
    assert "Installing" not in run(tree).stdout


def test_a_broken_environment_is_made_anew(tree):
    """Its Python was removed with the system's, or it was never whole."""
    run(tree)
    python = tree / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3")
    assert "Making .venv" in run(tree).stdout
    assert run(tree).stdout == f"told {tree}/.venv\n"


def test_an_old_python_is_a_sentence(monkeypatch):
    monkeypatch.setattr("runtime.install.sys.version_info", (3, 10))
    with pytest.raises(NotInstalled, match=r"needs Python 3\.11 or later"):
        install.main("requirements.txt", "runtime.told")


def test_packages_that_cannot_be_installed_are_a_sentence(monkeypatch, tmp_path):
    (tmp_path / "requirements.txt").write_text("")
    monkeypatch.setattr(install, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(install, "_usable", lambda: True)
    monkeypatch.setattr(install, "_with_uv", lambda requirements: False)
    monkeypatch.setattr(install, "_with_pip", lambda requirements: False)
    with pytest.raises(NotInstalled, match="Is there a network"):
        install.install(tmp_path / "requirements.txt")
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("name", ["up", "down", "test", "python"])
def test_every_command_can_be_run(name):
    assert os.access(BASE / "bin" / name, os.X_OK)


def test_the_commands_find_a_python_that_is_new_enough(tmp_path):
    """An old python3 comes first on the path; the next one is taken, and with none at all a sentence is said."""
    for name, program in (("python3", "/bin/false"), ("python3.12", sys.executable)):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "dirname").symlink_to(shutil.which("dirname") or "/usr/bin/dirname")
    argv = [str(BASE / "bin" / "python"), "-c", "import sys; print(sys.version_info >= (3, 11))"]
    assert subprocess.run(argv, env={"PATH": str(tmp_path)}, capture_output=True, text=True).stdout == "True\n"
    (tmp_path / "python3.12").unlink()
    without = subprocess.run(argv, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (without.returncode, "needs Python 3.11" in without.stderr) == (1, True)
