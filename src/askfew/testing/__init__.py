"""Contract checks for methods and oracles, askfew's own and yours.

Each is a plain function that raises AssertionError with a sentence; call it from any test runner.
``askfew.testing.storage`` has the check for a storage of campaigns.
"""

from askfew.testing.methods import Start, check_method
from askfew.testing.oracles import check_oracle
from askfew.testing.worlds import ForgetfulOracle, two_groups

__all__ = ["ForgetfulOracle", "Start", "check_method", "check_oracle", "two_groups"]
