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
        asks = f"asks {', '.join(facts['asks'])}" if facts["asks"] else "asks nothing"
        presets = f"; presets {', '.join(facts['presets'])}" if facts["presets"] else ""
        say(f"  {name:<{width}}  {asks + presets if facts['is_built'] else 'not built yet'}")
    say("\nstrategies")
    say(f"  {', '.join(known['strategies'])}")
    say("\nencoders")
    say(f"  {', '.join(known['encoders'])}")


def _known() -> dict[str, Any]:
    from likewise.benchmark.catalogue import facts
    from likewise.benchmark.datasets import DATASETS
    from likewise.methods.registry import METHODS, PROMISED
    from likewise.queries.registry import STRATEGIES

    return {
        "datasets": {name: source.about for name, source in DATASETS.items()},
        "methods": {
            name: {
                "is_built": name in METHODS,
                "presets": facts(name)["presets"] if name in METHODS else [],
                "asks": facts(name)["asks"] if name in METHODS else [],
            }
            for name in dict.fromkeys((*PROMISED, *METHODS))
        },
        "strategies": sorted(STRATEGIES),
        "encoders": ["bundled"],
    }
