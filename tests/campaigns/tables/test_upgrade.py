"""A store of the first version is brought to the newest; nothing is lost."""

import pytest
from alembic import command
from alembic.config import Config

from askfew.campaigns.store import Store
from askfew.campaigns.tables import migrations
from askfew.campaigns.tables.database import Database
from askfew.errors import InvalidInput
from campaign_tools import answer_all, sweep


def test_a_store_of_the_first_version_is_upgraded(store_url: str) -> None:
    database = Database(store_url)
    config = Config()
    config.set_main_option("script_location", str(migrations.__path__[0]))
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    database.close()
    with pytest.raises(InvalidInput, match="askfew store upgrade"):
        Store(store_url)
    assert Store.upgrade(store_url) == ("0001", migrations.latest_version())
    store = Store(store_url)
    assert answer_all(sweep(store)) == 6
    store.close()
