from sqlalchemy import func, select

from askfew.campaigns.db.schema import campaigns
from askfew.campaigns.store import Store
from small_campaigns import small_campaign


def check_that_nothing_moves(store: Store) -> None:
    count = select(func.count()).select_from(campaigns)
    with store.database.snapshot() as connection:
        assert connection.execute(count).scalar_one() == 0
        small_campaign(store)
        assert connection.execute(count).scalar_one() == 0
    with store.database.snapshot() as connection:
        assert connection.execute(count).scalar_one() == 1
    store.close()


def test_on_sqlite(tmp_path: str) -> None:
    check_that_nothing_moves(Store(f"sqlite:///{tmp_path}/store.db"))


def test_on_postgresql(fresh_database: str) -> None:
    check_that_nothing_moves(Store(fresh_database))
