"""The results page is what the stored rows give."""

from likewise_bench.report import report
from tests.docs.pages import ROOT


def test_the_results_page_is_current() -> None:
    files = sorted((ROOT / "docs" / "research" / "runs").glob("*.jsonl"))
    page = (ROOT / "docs" / "research" / "results.md").read_text()
    assert page == report(files), (
        "Regenerate it: likewise bench table docs/research/runs/*.jsonl --layout results "
        "-o docs/research/results.md"
    )
