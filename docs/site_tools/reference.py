"""Generate the reference pages of the command line and of the HTTP API.

``python -m docs.site_tools.reference`` prints both. The site generates them at build time, so
they are never out of date.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import MagicMock

import typer

_JSON = "application/json"


def cli_commands() -> dict[str, Any]:
    """Return every command by its full name, groups before their subcommands."""
    from likewise.cli.main import app

    found: dict[str, Any] = {}

    def visit(command: Any, name: str, parent: Any) -> None:
        found[name] = command
        if not hasattr(command, "list_commands"):
            return
        context = command.context_class(command, info_name=name, parent=parent)
        for child in command.list_commands(context):
            visit(command.get_command(context, child), f"{name} {child}", context)

    visit(typer.main.get_command(app), "likewise", None)
    return found


def cli_page() -> str:
    """Return the page of the command line: the help text of every command."""
    parts = [
        "# Command line\n",
        "Generated from the program (`likewise COMMAND --help` prints the same). Exit codes: 0 "
        "success, 1 an error of `likewise` (one line on stderr), 2 wrong usage or a missing "
        "extra, 130 after Ctrl+C.\n",
    ]
    for name, command in cli_commands().items():
        context: Any = command.context_class(
            command, info_name=name, terminal_width=96, max_content_width=96
        )
        text = command.get_help(context).replace("\b\n", "")
        parts.append(f"## {name}\n\n```text\n{text.rstrip()}\n```\n")
    return "\n".join(parts)


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document; the routes do not use the workspace for it."""
    from likewise.server.app import create_app

    return dict(create_app(MagicMock(), "token").openapi())


def http_page() -> str:
    """Return the page of the HTTP API: every route, then every JSON object."""
    document = openapi()
    parts = [
        "# HTTP API\n",
        "Generated from `/openapi.json`, which the running server serves as well. Send the token "
        "of the address that `likewise start` prints as `Authorization: Bearer TOKEN`. Images "
        "are integers. Every error is `{error, message}`; the message can be shown to a person. "
        "An example client is in the [guide](../guide/api.md).\n",
        "## Routes\n",
    ]
    for path, methods in document["paths"].items():
        parts += [_route(path, method, about) for method, about in methods.items()]
    parts.append("## Objects\n")
    schemas = document["components"]["schemas"]
    skipped = {"HTTPValidationError", "ValidationError"}
    parts += [_schema(name, schemas[name]) for name in sorted(schemas) if name not in skipped]
    return "\n".join(parts)


def _route(path: str, method: str, about: Mapping[str, Any]) -> str:
    text = about.get("description") or about.get("summary", "")
    lines = [f"### `{method.upper()} {path}`\n", text.strip() + "\n"]
    if about.get("parameters"):
        lines += ["| parameter | in | type | default |", "|---|---|---|---|"]
        for one in about["parameters"]:
            default = one["schema"].get("default", "required" if one.get("required") else "")
            kind = _type(one["schema"])
            lines.append(f"| `{one['name']}` | {one['in']} | {kind} | {_code(default)} |")
        lines.append("")
    body = about.get("requestBody", {}).get("content", {}).get(_JSON)
    if body:
        lines.append(f"Request body: {_type(body['schema'])}\n")
    for status, reply in about["responses"].items():
        if status.startswith("2"):
            schema = reply.get("content", {}).get(_JSON, {}).get("schema", {})
            shown = _type(schema) if schema else reply.get("description", "")
            lines.append(f"Response {status}: {shown}\n")
    return "\n".join(lines)


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    lines = [f"### {name}\n", schema.get("description", "").strip() + "\n"]
    fields = schema.get("properties", {})
    if fields:
        lines += ["| field | type | default |", "|---|---|---|"]
        needed = schema.get("required", [])
        for key, value in fields.items():
            default = "required" if key in needed else value.get("default", "")
            lines.append(f"| `{key}` | {_type(value)} | {_code(default)} |")
    return "\n".join(lines) + "\n"


def _code(value: object) -> str:
    if value == "required":
        return "required"
    return "" if value in ("", None) else f"`{value}`"


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any")) + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    parts = [f">= {low}"] if low is not None else []
    parts += [f"<= {high}"] if high is not None else []
    parts += [f"<= {schema['maxLength']} characters"] if "maxLength" in schema else []
    return f" ({', '.join(parts)})" if parts else ""


def pages() -> Iterator[tuple[str, str]]:
    """Yield path below ``docs/`` and text of each generated page."""
    yield "reference/cli.md", cli_page()
    yield "reference/http.md", http_page()


if __name__ == "__main__":
    for _, page in pages():
        sys.stdout.write(page)
