"""Reading the environment strictly: a value that cannot be meant is an error that names its variable.

In the demo the variables that are not set come from `var/env`, which `bin/up` writes (mode 600) at every start, so
that `manage.py` in another terminal meets the same database. Nothing is read from files in production. Standard library
only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

ENV_FILE: Final = "env"
POSTGRES_OPTIONS: Final = frozenset(
    {"sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name"}
)

MAIL_PORTS: Final = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


class BadEnvironment(Exception):
    """A variable is missing or cannot be read; the message is a sentence for whoever starts the process."""


def read_env_file(home: Path) -> dict[str, str]:
    """The variables that `bin/up` left in `var/env`, or none."""
    try:
        lines = (home / ENV_FILE).read_text("utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def gather(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment, completed from `var/env` unless it says that this is production."""
    if environ.get("PLACET_ENV", "demo") != "demo":
        return dict(environ)
    return {**read_env_file(home), **environ}


class Environment:
    """Variables by name. Every reader raises BadEnvironment naming the variable; an empty value counts as not set."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def text(self, name: str, default: str | None = None) -> str:
        value = self.values.get(name) or default
        if value is None:
            raise BadEnvironment(f"{name} is not set. In the demo bin/up sets it; in production you do.")
        return value

    def choice(self, name: str, *allowed: str, default: str | None = None) -> str:
        value = self.text(name, default)
        if value not in allowed:
            raise BadEnvironment(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")
        return value

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        value = self.text(name, str(default))
        if not re.fullmatch(r"[0-9]{1,9}", value) or not low <= int(value) <= high:
            raise BadEnvironment(f"{name} is {value!r}; it must be a whole number from {low} to {high}.")
        return int(value)

    def words(self, name: str, default: str = "") -> list[str]:
        return [word.strip() for word in (self.values.get(name) or default).split(",") if word.strip()]

    def addresses(self, name: str) -> set[str]:
        """A list of host:port; anything else (a scheme, a path, no port) is refused."""
        for word in self.words(name):
            host, _, port = word.rpartition(":")
            if not host or "/" in word or not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
                raise BadEnvironment(f"{name} holds {word!r}; it must be a list of host:port, parted by commas.")
        return set(self.words(name))

    def keys(self, name: str) -> dict[int, bytes]:
        """Root keys as `1:<64 hex>[,2:<64 hex>…]`, by number; the value is never repeated in an error."""
        keys: dict[int, bytes] = {}
        for position, word in enumerate(self.words(name), 1):
            match = re.fullmatch(r"([1-9][0-9]{0,4}):([0-9a-fA-F]{64})", word)
            if match is None or int(match[1]) > 65535 or int(match[1]) in keys:
                raise BadEnvironment(
                    f"{name}: key {position} of the list is not a new number, a colon and 64 hex digits."
                )
            keys[int(match[1])] = bytes.fromhex(match[2])
        if not keys:
            raise BadEnvironment(f"{name} is not set. It is a list of root keys: 1:<64 hex digits>.")
        return keys

    def postgres(self, name: str) -> dict[str, Any]:
        """A PostgreSQL address as Django wants it: HOST, PORT, USER, PASSWORD, NAME, OPTIONS."""
        try:
            url = urlsplit(self.text(name))
            port = url.port
        except ValueError as error:
            raise BadEnvironment(f"{name} cannot be read as an address.") from error
        if url.scheme not in {"postgres", "postgresql"} or not url.username or not url.path.strip("/"):
            raise BadEnvironment(f"{name} must look like postgresql://role:password@host:port/database.")
        options = dict(parse_qsl(url.query))
        if unknown := sorted(set(options) - POSTGRES_OPTIONS - {"host"}):
            raise BadEnvironment(f"{name} has the option {unknown[0]!r}, which is not known here.")
        return {
            "HOST": options.pop("host", None) or unquote(url.hostname or ""),
            "PORT": str(port or ""),
            "USER": unquote(url.username),
            "PASSWORD": unquote(url.password or ""),
            "NAME": unquote(url.path.strip("/")),
            "OPTIONS": options,
        }

    def mail(self, name: str) -> dict[str, object]:
        """A mail server's address as Django wants it: smtp:// in the clear, smtp+starttls://, or smtps://; nothing
        where it is not set."""
        if not self.values.get(name):
            return {}
        try:
            url = urlsplit(self.text(name))
            port = url.port
        except ValueError as error:
            raise BadEnvironment(f"{name} cannot be read as an address.") from error
        if url.scheme not in MAIL_PORTS or not url.hostname or url.path.strip("/") or url.query:
            raise BadEnvironment(f"{name} must look like smtps://user:password@host:port.")
        return {
            "HOST": url.hostname,
            "PORT": port or MAIL_PORTS[url.scheme],
            "HOST_USER": unquote(url.username or ""),
            "HOST_PASSWORD": unquote(url.password or ""),
            "USE_TLS": url.scheme == "smtp+starttls",
            "USE_SSL": url.scheme == "smtps",
        }

    def site(self, name: str, default: str) -> str:
        """The address under which people reach Placet, without a path: it stands in mails."""
        value = self.text(name, default).rstrip("/")
        url = urlsplit(value)
        if url.scheme not in {"http", "https"} or not url.hostname or url.path or url.query or url.username:
            raise BadEnvironment(f"{name} is {value!r}; it must look like https://placet.example.com.")
        return value

    def providers(self, name: str) -> dict[str, dict[str, object]]:
        """The identity providers that a list of short names stands for, each with variables of its own:
        `NAME_<SHORT>_ISSUER`, `_CLIENT_ID`, `_CLIENT_SECRET`, `_TITLE`, `_DOMAINS`, `_ACR`, `_AMR`, `_MAX_AGE`."""
        return {short: self._provider(name, short) for short in self.words(name)}

    def _provider(self, name: str, short: str) -> dict[str, object]:
        if not re.fullmatch("[a-z][a-z0-9]{0,19}", short):
            raise BadEnvironment(f"{name} holds {short!r}; a short name is of small letters and digits.")
        head = f"{name}_{short.upper()}_"
        issuer = self.text(f"{head}ISSUER")
        url = urlsplit(issuer)
        if url.scheme != "https" and not (url.scheme == "http" and url.hostname in {"localhost", "127.0.0.1"}):
            raise BadEnvironment(f"{head}ISSUER must begin with https://.")
        if url.query or url.fragment or not url.hostname:
            raise BadEnvironment(f"{head}ISSUER must be an address without a query.")
        return {
            "issuer": issuer,
            "client_id": self.text(f"{head}CLIENT_ID"),
            "client_secret": self.text(f"{head}CLIENT_SECRET"),
            "title": self.text(f"{head}TITLE", short.capitalize()),
            "domains": [domain.lower() for domain in self.words(f"{head}DOMAINS")],
            "acr": self.words(f"{head}ACR"),
            "amr": self.words(f"{head}AMR"),
            "max_age": self.number(f"{head}MAX_AGE", 0, low=0, high=31_536_000),
        }

    def redis(self, name: str) -> str:
        value = self.text(name)
        if urlsplit(value).scheme not in {"redis", "rediss"}:
            raise BadEnvironment(f"{name} must begin with redis:// or rediss://.")
        return value


def from_process(base: Path) -> tuple[Environment, Path]:
    """This process's environment and the folder `PLACET_HOME` (`var/` unless it is set)."""
    home = Path(os.environ.get("PLACET_HOME") or base / "var").resolve()
    return Environment(gather(os.environ, home)), home
