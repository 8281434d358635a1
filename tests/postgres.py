"""A private PostgreSQL server for tests: real, crashable, and gone when its owner is gone.

The test process does not start the server itself: a small keeper process (this file, run as a
script) does, and two things end the server. The keeper sees that its parent, the test process,
has died; and the kernel signals the server when the keeper dies (PR_SET_PDEATHSIG). So the server
goes too, whichever of them is killed. After `pg_ctl start` it would not: it is nobody's child then.
"""

import contextlib
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, Self

if TYPE_CHECKING:
    import psycopg

PR_SET_PDEATHSIG = 1
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    # Tests kill processes and never the machine: what a dead server had written is still there.
    # Every commit is written before it is acknowledged, but nobody waits for the disk.
    "fsync": "off",
    "synchronous_commit": "on",
    "dynamic_shared_memory_type": "mmap",  # in the folder, so a crash leaves nothing in /dev/shm
}

_SHAPE: LiteralString = """
SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull) AS said
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND attnum > 0
UNION ALL SELECT concat_ws(' ', conname, pg_get_constraintdef(oid)) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT version_num FROM alembic_version
ORDER BY said
"""


def find_binaries() -> Path | None:
    """The folder of initdb and postgres: on PATH, else Debian's newest; None if there is none.

    None also off Linux: `kill` reads /proc, and the keeper needs PR_SET_PDEATHSIG.
    """
    if sys.platform != "linux":
        return None
    debian = Path("/usr/lib/postgresql").glob("[0-9]*/bin")
    newest_first = sorted(debian, key=lambda folder: float(folder.parent.name), reverse=True)
    on_path = [Path(folder) for folder in os.get_exec_path()]
    for folder in on_path + newest_first:
        if all(shutil.which(name, path=str(folder)) for name in ("initdb", "postgres")):
            return folder
    return None


class PrivatePostgres:
    """A server of our own on a free port of 127.0.0.1, its data in a temporary folder.

    Use it in a `with` block: the end of the block, or of this process, removes everything.
    """

    def __init__(self) -> None:
        binaries = find_binaries()
        if binaries is None:
            raise FileNotFoundError("PostgreSQL's initdb and postgres were not found")
        self.port = _free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="askfew-postgres-"))
        self._binaries = binaries
        self._keeper: subprocess.Popen[bytes] | None = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def url(self, database: str) -> str:
        """Where SQLAlchemy finds this database."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str) -> str:
        """Make an empty database; its URL."""
        self._execute("CREATE DATABASE {}", name)
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is still connected to it."""
        self._execute("DROP DATABASE {} WITH (FORCE)", name)

    def empty(self, name: str) -> None:
        """Leave a store's tables as they were made; whoever is still connected is sent away.

        It takes a tenth of the time of another database, because no files are made. VACUUM makes
        the tables as short as they were, so that new rows lie in order.
        """
        from psycopg import sql

        with self._connect(name) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("SET session_replication_role = replica")  # foreign keys may wait
            found = connection.execute(
                "SELECT tablename FROM pg_tables"
                " WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
            ).fetchall()
            tables = [sql.Identifier(str(table)) for (table,) in found]
            used = [
                table
                for table in tables
                if connection.execute(sql.SQL("DELETE FROM {}").format(table)).rowcount
            ]
            if used:
                connection.execute(sql.SQL("VACUUM {}").format(sql.SQL(", ").join(used)))
            connection.execute(
                "SELECT setval(format('%I.%I', schemaname, sequencename), start_value, false)"
                " FROM pg_sequences WHERE last_value IS NOT NULL"
            )

    def shape(self, name: str) -> object:
        """What is the same for two stores with the same tables, and None for what is no store."""
        from psycopg.errors import UndefinedTable

        try:
            with self._connect(name) as connection:
                return connection.execute(_SHAPE).fetchall()
        except UndefinedTable:
            return None

    @property
    def running(self) -> bool:
        """Whether the server is up (its keeper ends when it does)."""
        return self._keeper is not None and self._keeper.poll() is None

    def start(self) -> None:
        """Start the server, after a crash too, and wait until it answers; nothing if it is up."""
        if self.running:
            return
        script = [sys.executable, "-I", "-S", __file__]
        arguments = [str(os.getpid()), str(self._binaries), str(self.folder), str(self.port)]
        log_file = self.folder / "log"
        with log_file.open("ab") as log:
            self._keeper = subprocess.Popen(
                script + arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the tests, not for the server
            )
        _wait_for(lambda: self._answers() or not self.running, "PostgreSQL to answer")
        if not self.running:
            raise RuntimeError(f"PostgreSQL did not start:\n{log_file.read_text()[-2000:]}")

    def kill(self) -> None:
        """Crash: SIGKILL to the server's first process and all its children at once.

        The first is halted before the others are looked up, so that it neither starts another nor
        sees one die and tidies up. Returns when all are dead: `start` may follow at once.
        """
        first = self._first_process()
        os.kill(first, signal.SIGSTOP)
        _wait_for(lambda: _process(first)[0] == "T", "PostgreSQL to halt")
        numbers = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
        family = [first, *(number for number in numbers if _process(number)[1] == first)]
        for number in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        # A killed process may first have to finish a disk write, and holds its memory until then.
        _wait_for(lambda: all(_process(n)[0] in ("gone", "Z") for n in family), "its death")
        self._await_keeper()

    def stop(self) -> None:
        """Stop the server in good order; the data stay, and `start` brings it back."""
        if self.running:
            os.kill(self._first_process(), signal.SIGINT)
            self._await_keeper()

    def close(self) -> None:
        """Stop the server without ceremony and remove its folder."""
        if self._keeper is not None:
            self._keeper.terminate()
            self._await_keeper()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _first_process(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def _await_keeper(self) -> None:
        if self._keeper is not None:
            self._keeper.wait(timeout=60)

    def _connect(self, database: str = "postgres") -> "psycopg.Connection[tuple[object, ...]]":
        # Not at the top of the file: the keeper runs it with the standard library alone.
        import psycopg

        where = f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"
        where += " connect_timeout=10"
        return psycopg.connect(where, autocommit=True)

    def _answers(self) -> bool:
        from psycopg import OperationalError

        try:
            with self._connect() as connection:
                found = connection.execute("SHOW data_directory").fetchone()
        except OperationalError:
            return False
        return found == (str(self.folder / "data"),)  # another server may have taken the port

    def _execute(self, statement: LiteralString, name: str) -> None:
        from psycopg import sql

        with self._connect() as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


def _free_port() -> int:
    """A free port below those the kernel hands to clients.

    Among those, a client could be given the port of a crashed server before that is back, or even
    be connected to itself. The tests' own random state is no use here: all workers have the same.
    """
    for port in random.SystemRandom().sample(range(15_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port found on 127.0.0.1 between 15000 and 32000")


def _unprivileged() -> dict[str, Any]:
    """Arguments that make subprocess leave root's rights behind: PostgreSQL refuses to run as root.

    >>> sorted(_unprivileged()) in ([], ["extra_groups", "group", "user"])
    True
    """
    if os.geteuid() != 0:
        return {}
    import pwd  # not at the top of the file: Windows has none, and conftest.py imports us

    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _process(number: int) -> tuple[str, int]:
    """A process's state (R, S, D, T, Z ..., or "gone") and its parent's number."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "gone", 0
    state, parent = stat.rpartition(")")[2].split()[:2]  # the name before may have spaces
    return state, int(parent)


def _wait_for(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.02)


def keep(owner: int, binaries: Path, folder: Path, port: int) -> None:
    """Run the server while the owner, our parent, lives and does not end us; then clear up."""
    keeper = os.getpid()
    prctl = ctypes.CDLL(None).prctl
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))

    def die_with_keeper() -> None:
        # Runs after the change of user, which would have undone it.
        prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
        if os.getppid() != keeper:
            os._exit(1)

    if not (folder / "data").exists():
        _initdb(binaries, folder)
    settings = {**SETTINGS, "port": port}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", folder / "data", *options],
        cwd=folder,
        preexec_fn=die_with_keeper,
        **_unprivileged(),
    )
    while not told and os.getppid() == owner:
        if server.poll() is not None:
            return  # stopped or crashed on purpose, and the data are still wanted
        time.sleep(0.05)
    server.send_signal(signal.SIGQUIT)
    try:
        server.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.kill()
    shutil.rmtree(folder, ignore_errors=True)


def _initdb(binaries: Path, folder: Path) -> None:
    unprivileged = _unprivileged()
    if unprivileged:
        os.chown(folder, unprivileged["user"], unprivileged["group"])
    # No sync: these files need to survive a dead server, not a dead machine.
    options = ["--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]
    subprocess.run(
        [binaries / "initdb", "-D", folder / "data", *options],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        check=True,
        **unprivileged,
    )


if __name__ == "__main__":
    keep(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
