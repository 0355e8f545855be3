from tests.cli import conftest as cli_conftest

photos = cli_conftest.photos
run = cli_conftest.run
_quiet_corner = cli_conftest._quiet_corner
