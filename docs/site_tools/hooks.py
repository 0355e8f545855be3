"""MkDocs hooks: generated reference pages, and diagrams as SVG."""

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.site_tools import charts, flowchart, reference


def _draw(source: str, *_: Any, **__: Any) -> str:
    return flowchart.to_svg(source)


def on_config(config: Any) -> Any:
    """Render ``mermaid`` fences without Mermaid."""
    fence = {"name": "mermaid", "class": "flowchart", "format": _draw}
    config["mdx_configs"].setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for path, text in (*reference.pages(), *charts.pages()):
        files.append(File.generated(config, path, content=text))
    return files
