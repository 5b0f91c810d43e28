"""The log of a study in a database, for workers on several machines, where a lock of a file cannot serve.

Two tables hold any number of studies: ``bai_gym_studies`` has the name of each, its head and the checksum of its last
entry, and ``bai_gym_entries`` the entries, as the JSON lines of a journal (:mod:`bai_gym.live.entries`). A transaction
of the database locks the row of its study, so that processes take turns, and ends with the process or the connection.
What is appended is committed when the transaction ends.

If the connection is lost, because the server has been restarted, it is made again. Whether a commit that was in
progress took place is then read from the log: entries bear the mark of their writer. If it did not, and others have
written meanwhile, the transaction is :class:`~bai_gym.live.entries.Overtaken`.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bai_gym.errors import MissingPackageError, OutputError, ParameterError
from bai_gym.live.entries import (
    Chain,
    Entry,
    Overtaken,
    check_head,
    damaged,
    head_of,
    parse,
    read_head,
    readable,
    values_of,
)
from bai_gym.live.executor.functions import one_line

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

__all__ = ["Database", "read_database"]

_T = TypeVar("_T")

_OTHER = "another name"
_EXAMPLES = "postgresql://user@host/database or sqlite:///studies.db"

# Seconds. A process that is cut off from the server, or stopped, in the middle of a transaction loses it before others
# give up.
_PATIENCE = 60.0
_IDLE = 45.0
_PAUSE = 0.1  # between two attempts

_DAMAGE = (
    "malformed",
    "not a database",
    "could not decode",
    "Could not decode",
    "no such",
    "syntax error",
)  # of SQLite

_SETTINGS = (
    f"SELECT set_config('lock_timeout', '{_PATIENCE:.0f}s', true), "
    f"set_config('idle_in_transaction_session_timeout', '{_IDLE:.0f}s', true), "
    "set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)"
)
_CREATE = 4_242_107_781  # the advisory lock under which tables are created: PostgreSQL alone does not keep two apart


class Database:
    """The open log of one study.

    Args:
        address: Address of the database, as SQLAlchemy has it: ``postgresql://user:password@host:port/database``, or
            ``sqlite:///path``.
        name: Name of the study.
        facts: Facts that identify the experiment, as JSON values; among them ``"arms"``, the names of the arms.

    Raises:
        OutputError: The database cannot be reached or written, or the study is of another experiment or damaged.
        ParameterError: There is no such kind of database, or the name is no name.
        MissingPackageError: SQLAlchemy or the driver is not installed.
    """

    def __init__(self, address: str, name: str, facts: Mapping[str, Any]) -> None:
        """Create what is missing, and check the head."""
        self._engine, place = _engine(address)
        self._served = self._engine.dialect.name == "postgresql"
        self._name = _checked_name(name)
        self._log = f"study {name!r} in {place}"
        self._head = head_of(facts)
        self._connection: Connection | None = None
        self._unwritten: list[Entry] = []
        self._closed = False
        self._own()
        self.rewind()
        try:
            self._patiently(self._create, patience=0.0)
        except BaseException:
            self._release()
            self.close()
            raise

    @contextlib.contextmanager
    def transaction(self) -> Iterator[list[Entry]]:
        """Keep other processes out, and return the entries that they have appended since the last transaction.

        Raises:
            OutputError: If the database cannot be reached or written for a minute, or if the study is damaged or gone.
            Overtaken: If the connection was lost, nothing was written, and others have written meanwhile.
        """
        if self._closed:
            raise OutputError(f"{self._log} is closed: open it again")
        if self._process != os.getpid():  # a fork shares the connections of its parent, which must stay as they are
            self._engine.dispose(close=False)
            self._own()
        try:
            entries = self._patiently(self._read)
            yield entries
            if self._unwritten:
                self._chain = self._patiently(self._commit)
        finally:
            self._unwritten = []
            self._release()

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries when the transaction ends."""
        self._unwritten.extend(entries)

    def rewind(self) -> None:
        """Have the next transaction return all entries."""
        self._chain = Chain()
        self._chain.line(self._head)

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        if self._process == os.getpid():
            self._engine.dispose()

    def _own(self) -> None:
        self._process, self._writer = os.getpid(), uuid.uuid4().hex

    def _release(self) -> None:
        """End the transaction, without what is not committed."""
        from sqlalchemy.exc import DBAPIError

        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(DBAPIError):  # it was lost, and there is nothing left to roll back
                connection.close()

    def _patiently(self, attempt: Callable[[], _T], patience: float = _PATIENCE) -> _T:
        """Return what an attempt returns, which is repeated with another connection where one is lost.

        Raises:
            OutputError: If it does not succeed for so many seconds; the message has what may not be in the log.
        """
        from sqlalchemy.exc import DBAPIError

        until = time.monotonic() + patience
        while True:
            try:
                return attempt()
            except DBAPIError as error:
                self._release()
                lost = error.connection_invalidated or (self._served and isinstance(error, _outages()))
                if not lost or time.monotonic() >= until:
                    content = readable(self._unwritten)
                    rest = f"; perhaps not in it: {content}" if content else ""
                    raise OutputError(f"{self._log} cannot be read or written ({_reason(error)}){rest}") from None
            except UnicodeDecodeError as error:
                raise OutputError(f"{self._log} cannot be read ({_reason(error)})") from None
            time.sleep(_PAUSE)

    def _begin(self) -> Connection:
        """Begin a transaction of the database."""
        self._connection = self._engine.connect()
        self._connection.begin()
        if self._served:
            self._connection.exec_driver_sql(_SETTINGS)
        return self._connection

    def _create(self) -> None:
        """Create the tables and the study if they are missing."""
        from sqlalchemy import insert, select

        studies, _ = _tables()
        connection = self._begin()
        if self._served:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATE})")
        studies.metadata.create_all(connection)
        head = connection.scalar(select(studies.c.head).where(studies.c.name == self._name))
        chain = Chain()
        if head is None:
            if _rows(connection, self._name, 0):
                raise damaged(self._log, "it has entries, and no head", _OTHER)
            head = chain.copy().line(self._head).decode()
            connection.execute(insert(studies).values(name=self._name, head=head, tip=self._chain.tip))
        check_head(read_head(_line(head), chain, self._log, _OTHER), self._head, self._log, _OTHER)
        connection.commit()
        self._release()

    def _locked(self) -> tuple[Connection, str]:
        """Begin a transaction in which no other process can write; return it with the checksum of the last entry."""
        from sqlalchemy import select

        studies, _ = _tables()
        connection = self._begin()
        tip = connection.scalar(select(studies.c.tip).where(studies.c.name == self._name).with_for_update())
        if tip is None:
            raise OutputError(f"{self._log} was deleted by others: restore it, and start again")
        return connection, tip

    def _read(self) -> list[Entry]:
        """Return the entries that this process has not seen, and keep others from writing more."""
        connection, tip = self._locked()
        if tip == self._chain.tip:
            return []
        return _parsed(_rows(connection, self._name, self._seen), self._chain, tip, self._log)

    @property
    def _seen(self) -> int:
        """Number of the entries that this process has seen."""
        return self._chain.length - 1

    def _commit(self) -> Chain:
        """Write what was appended, and return the checksums after it.

        Raises:
            Overtaken: If others have written since this process read the log, with a connection that was lost.
        """
        from sqlalchemy import insert, update

        studies, entries = _tables()
        chain = self._chain.copy()
        lines = [chain.line(values_of(entry)) for entry in self._unwritten]
        connection = self._connection
        if connection is None:  # it was lost
            connection, tip = self._locked()
            if tip != self._chain.tip:
                later = _rows(connection, self._name, self._seen)
                if not later or later[0].writer != self._writer:
                    raise Overtaken
                return chain  # it was committed before
        rows = [
            {"study": self._name, "position": self._seen + number, "entry": line.decode(), "writer": self._writer}
            for number, line in enumerate(lines)
        ]
        connection.execute(insert(entries), rows)
        connection.execute(update(studies).where(studies.c.name == self._name).values(tip=chain.tip))
        connection.commit()
        return chain


def read_database(address: str, name: str) -> tuple[dict[str, Any], list[Entry]]:
    """Return the facts and the entries of a study to which others may be writing.

    Raises:
        OutputError: The database cannot be read, has no such study, or the study is damaged.
        ParameterError: There is no such kind of database.
        MissingPackageError: SQLAlchemy or the driver is not installed.
    """
    engine, place = _engine(address, create=False)
    from sqlalchemy import select
    from sqlalchemy.exc import DBAPIError

    log = f"study {_checked_name(name)!r} in {place}"
    studies, _ = _tables()
    try:
        with engine.connect() as connection:
            if not engine.dialect.has_table(connection, studies.name):
                raise OutputError(f"{place} has no studies: give the address that they were started with")
            found = connection.execute(select(studies.c.head, studies.c.tip).where(studies.c.name == name)).first()
            if found is None:
                names = connection.scalars(select(studies.c.name).order_by(studies.c.name)).all()
                raise OutputError(f"there is no {log}: it has {', '.join(map(repr, names)) or 'none yet'}")
            rows = _rows(connection, name, 0)
    except (DBAPIError, UnicodeDecodeError) as error:
        raise OutputError(f"{log} cannot be read ({_reason(error)})") from None
    finally:
        engine.dispose()
    chain = Chain()
    return read_head(_line(found.head), chain, log, _OTHER), _parsed(rows, chain, found.tip, log)


@cache
def _tables() -> tuple[Table, Table]:
    """Return the tables of studies and of entries."""
    from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table, Text

    metadata = MetaData()
    studies = Table(
        "bai_gym_studies",
        metadata,
        Column("name", String, primary_key=True),
        Column("head", Text, nullable=False),
        Column("tip", String, nullable=False),
    )
    entries = Table(
        "bai_gym_entries",
        metadata,
        Column("study", String, ForeignKey(studies.c.name), primary_key=True),
        Column("position", Integer, primary_key=True, autoincrement=False),
        Column("entry", Text, nullable=False),
        Column("writer", String, nullable=False),
    )
    return studies, entries


def _engine(address: str, *, create: bool = True) -> tuple[Engine, str]:
    """Return the way to a database, and what errors call it: its address without a password.

    Args:
        address: The address.
        create: Whether a file is created if it is missing, and transactions are those of writers.

    Raises:
        OutputError: If a file is missing.
        ParameterError: If there is no such kind of database.
        MissingPackageError: If SQLAlchemy or the driver is not installed.
    """
    try:
        from sqlalchemy import create_engine, make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise MissingPackageError('a storage needs SQLAlchemy; pip install "bai-gym[sql]"') from error
    try:
        url = make_url(address)
    except ArgumentError:  # not shown, because it may have a password
        raise ParameterError(f"storage must be the address of a database, such as {_EXAMPLES}") from None
    kind, place = url.get_backend_name(), url.render_as_string(hide_password=True)
    if kind not in ("postgresql", "sqlite"):
        raise ParameterError(f"storage must be a database of PostgreSQL or SQLite, such as {_EXAMPLES}, not {kind}")
    options: dict[str, Any] = {"isolation_level": "READ COMMITTED", "connect_args": {"connect_timeout": 10}}
    if kind == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise ParameterError("storage is a database in memory, which no other process sees: give sqlite:///PATH")
        path = Path(url.database).absolute()  # the working directory may change
        if not create and not path.is_file():
            raise OutputError(f"there is no file {path}: give the address that the study was started with")
        url, options = url.set(database=str(path)), {"connect_args": {"timeout": _PATIENCE}}
    elif url.drivername == "postgresql":  # SQLAlchemy 2.0 would take another driver
        url = url.set(drivername="postgresql+psycopg")
    try:
        engine = create_engine(url, pool_size=1, **options)
    except ImportError as error:
        raise MissingPackageError(f'the driver of {kind} is missing; pip install "bai-gym[sql]" ({error})') from error
    if kind == "sqlite" and create:
        _lock_at_once(engine)
    return engine, place


def _lock_at_once(engine: Engine) -> None:
    """Have transactions of SQLite lock the file from their beginning, and be on the disk at their end."""
    from sqlalchemy import event

    def connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver begins no transaction by itself
        connection.execute("PRAGMA synchronous = EXTRA")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or "\0" in name or name != name.encode(errors="replace").decode():
        raise ParameterError(f"name must be the name of a study, as text that is not empty, not {name!r}")
    return name


def _rows(connection: Connection, name: str, start: int) -> Sequence[Any]:
    """Return the rows of the entries from a position on: entry, writer."""
    from sqlalchemy import select

    _, entries = _tables()
    wanted = select(entries.c.entry, entries.c.writer)
    return connection.execute(
        wanted.where(entries.c.study == name, entries.c.position >= start).order_by(entries.c.position)
    ).all()


def _parsed(rows: Sequence[Any], chain: Chain, tip: str, log: str) -> list[Entry]:
    """Return the entries in rows, up to one with a checksum; others may have written more by now.

    Raises:
        OutputError: If one is missing or damaged.
    """
    found = []
    for row in rows:
        if chain.tip == tip:
            break
        values = chain.values(_line(row.entry))
        if values is None:
            break
        found.append(parse(values))
    if chain.tip != tip:
        raise damaged(log, f"entry {chain.length - 1} is missing or not as it was written", _OTHER)
    return found


def _line(value: Any) -> bytes:
    """Return a text of the database, where damage can leave a value of any type."""
    return str(value).encode(errors="replace")


def _outages() -> tuple[type[Exception], ...]:
    """Return the errors of a server that may answer again."""
    from sqlalchemy.exc import InterfaceError, OperationalError

    return InterfaceError, OperationalError


def _reason(error: Any) -> str:
    """Return what the driver says, in one line, and what to do about a damaged file."""
    if isinstance(error, UnicodeDecodeError):  # of SQLite's own message, which quotes the damage
        return f"its tables are damaged; restore a copy, or start again with {_OTHER}"
    said = one_line(str(error.orig), 200)
    return f"{said}; restore a copy of the file" if any(word in said for word in _DAMAGE) else said
