"""The generated reference pages are complete, and what they are generated from is documented."""

import re
from importlib import import_module

from docs.site_tools.reference import cli_commands, cli_page, http_page, openapi
from tests.docs.pages import ROOT


def test_the_command_page_has_every_command_and_option() -> None:
    page = cli_page()
    for name, command in cli_commands().items():
        assert f"\n## {name}\n" in page
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for option in command.params:
            if option.param_type_name == "option":
                assert option.opts[-1] in section


def test_the_http_page_has_every_route_and_object() -> None:
    page, document = http_page(), openapi()
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"### `{method.upper()} {path}`" in page
    for link in re.findall(r"\]\(#(\w+)\)", page):
        assert re.search(rf"^### {link}$", page, re.M | re.I), f"#{link} has no heading."


def test_every_route_and_object_has_a_description() -> None:
    document = openapi()
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            assert about.get("description"), f"{method} {path} has no docstring."
    for name, schema in document["components"]["schemas"].items():
        if "ValidationError" not in name:
            assert schema.get("description"), f"{name} has no docstring."


def test_every_object_of_the_python_page_exists() -> None:
    text = (ROOT / "docs" / "reference" / "python.md").read_text()
    names = re.findall(r"^::: (\S+)$", text, re.M)
    assert names
    for name in names:
        module, _, attribute = name.rpartition(".")
        try:
            import_module(name)
        except ModuleNotFoundError:
            assert hasattr(import_module(module), attribute), f"{name} does not exist."
