from tests.cli import conftest as cli_conftest

run = cli_conftest.run
_quiet_corner = cli_conftest._quiet_corner
