"""`likewise bench list`: which data sets, methods and strategies there are."""

from typing import Any

from likewise.cli.options import AsJson
from likewise.cli.output import print_json, say


def list_(as_json: AsJson = False) -> None:
    """List data sets, methods and strategies.

    \b
    Example:
        likewise bench list
        likewise bench list --json
    """
    known = _known()
    if as_json:
        print_json(known)
        return
    width = max(map(len, known["datasets"]))
    say("data sets")
    for name, about in known["datasets"].items():
        say(f"  {name:<{width}}  {about}")
    say("\nmethods")
    for name, facts in known["methods"].items():
        presets = f"presets {', '.join(facts['presets'])}" if facts["presets"] else ""
        say(f"  {name:<{width}}  {presets if facts['is_built'] else 'not built yet'}".rstrip())
    say("\nstrategies")
    say(f"  {', '.join(known['strategies'])}")
    say("\nencoders")
    say(f"  {', '.join(known['encoders'])}")


def _known() -> dict[str, Any]:
    from likewise.benchmark.datasets import DATASETS
    from likewise.methods.registry import METHODS, PROMISED, method_class
    from likewise.queries.registry import STRATEGIES

    return {
        "datasets": {name: source.about for name, source in DATASETS.items()},
        "methods": {
            name: {
                "is_built": name in METHODS,
                "presets": sorted(method_class(name).presets) if name in METHODS else [],
            }
            for name in PROMISED
        },
        "strategies": sorted(STRATEGIES),
        "encoders": ["bundled"],
    }
