"""`likewise bench list`: which data sets, methods, strategies and encoders there are."""

from typing import Any

from likewise.cli.options import AsJson
from likewise.cli.output import print_json, say


def list_(as_json: AsJson = False) -> None:
    """List data sets and how they are sorted, methods, strategies and encoders.

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
        sorted_by = ", ".join(known["orientations"][name])
        say(f"  {name:<{width}}  {about}{sorted_by and f'; by {sorted_by}'}")
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
    from likewise.benchmark.datasets.registry import DATASETS, orientations_of
    from likewise.encoders.registry import ENCODERS
    from likewise.methods.registry import METHODS, PROMISED
    from likewise.queries.registry import STRATEGIES

    return {
        "datasets": {name: source.about for name, source in DATASETS.items()},
        "orientations": {name: orientations_of(name) for name in DATASETS},
        "methods": {
            name: {
                "is_built": name in METHODS,
                "presets": facts(name)["presets"] if name in METHODS else [],
                "asks": facts(name)["asks"] if name in METHODS else [],
            }
            for name in dict.fromkeys((*PROMISED, *METHODS))
        },
        "strategies": sorted(STRATEGIES),
        "encoders": list(ENCODERS),
    }
