"""The file of anchors: lines of JSON that are only added, each naming the one before by its hash."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from approvals.ledger import canonical

NOTHING: Final = "0" * 64
_LIMITS: Final[dict[str, Any]] = {"max_bytes": 1 << 30, "max_nodes": 1 << 30}
_MEMBERS: Final = {"v", "number", "at", "previous", "root", "count", "heads", "keys", "signatures"}


class Book:
    """The anchors of one file, as far as it was read: `read` goes on from there. Threads may share one.

    ``heads`` is what each chain has to hold at least; ``faults`` are lines that do not follow the one before, ``torn``
    counts writes that a crash cut short, which break nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        self._file, self._offset, self._rest = (0, 0), 0, b""
        self.heads: dict[str, tuple[int, str]] = {}
        self.faults: list[str] = []
        self.torn = 0
        self.number, self.last, self.root, self.at = 0, NOTHING, sha256(b"").hexdigest(), ""
        self.signers: tuple[int, ...] = ()

    @property
    def unfinished(self) -> bool:
        """Whether the file ends within a line."""
        return bool(self._rest)

    def read(self, *, anew: bool = False) -> Book:
        """Read what was added since; all of it if asked to, or if another file stands in its place."""
        with self._guard:
            if anew:
                self._begin()
            try:
                with self.path.open("rb") as file:
                    self._take(file.fileno())
            except FileNotFoundError:
                self._begin()
        return self

    def _take(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        if (found.st_dev, found.st_ino) != self._file or found.st_size < self._offset:
            self._begin()
            self._file = (found.st_dev, found.st_ino)
        added = os.pread(descriptor, found.st_size - self._offset, self._offset)
        self._offset += len(added)
        *whole, self._rest = (self._rest + added).split(b"\n")
        for line in whole:
            self._follow(line)

    def _follow(self, text: bytes) -> None:
        line = _line(text)
        if line is None:
            self.torn += 1
            return
        if (line["number"], line["previous"]) != (self.number + 1, self.last):
            self.faults.append(f"anchor {line['number']} does not follow anchor {self.number}.")
        self.heads |= {key: (seq, mark) for key, seq, mark in line["heads"]}
        self.number, self.last, self.root, self.at = line["number"], sha256(text).hexdigest(), line["root"], line["at"]
        self.signers = (max(map(int, line["keys"])),)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every anchor from the first on, read once more."""
        if self.number:
            with self.path.open("rb") as file:
                yield from filter(None, map(_line, file))

    @contextmanager
    def writing(self) -> Iterator[Book]:
        """The book, read to its end and open for `append`, while no other process writes to it."""
        with self._guard:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                self._take(descriptor)
                self._open = descriptor
                yield self
                self._take(descriptor)
            finally:
                os.close(descriptor)

    def append(self, line: bytes) -> None:
        """Add a line and wait until it is on the disk. What a crash left of a line before stays, on a line of its
        own."""
        text = (b"\n" if self._rest else b"") + line + b"\n"
        while text:
            text = text[os.write(self._open, text) :]
        os.fsync(self._open)


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        line = canonical.parse(text, **_LIMITS)
    except canonical.Unrepresentable:
        return None
    return line if isinstance(line, dict) and set(line) == _MEMBERS else None
