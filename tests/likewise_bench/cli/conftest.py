from tests.cli import conftest as cli_conftest

photos = cli_conftest.photos
run = cli_conftest.run
_isolated = cli_conftest._isolated
