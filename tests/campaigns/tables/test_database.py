"""Connections that are kept at hand, shared by threads."""

from pathlib import Path

from sqlalchemy import PoolProxiedConnection, literal, select

from askfew.campaigns.tables.database import Database

ONE = select(literal(1))


class Contended(list[PoolProxiedConnection]):
    """As it looks to a thread while another takes the last one."""

    def __bool__(self) -> bool:
        return True


def test_connections_are_given_back_though_other_threads_take_them(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}")
    assert database.glance(ONE, {}) == (1,)
    database._kept = Contended(database._kept)
    database.close()
    assert len(database._kept) == 0
    assert database.glance(ONE, {}) == (1,)
    database.close()
