from pathlib import Path

from tests.cli.conftest import Run, done, json_of

FEW = ("demo", "--n-images", 128, "--questions", 20)


def test_the_demo_reports_accuracy_and_writes_a_page(run: Run) -> None:
    result = done(run(*FEW))
    page = Path("likewise-demo.html")
    assert "unguided, the groups follow background" in result.stdout
    assert "wanted criterion shape: accuracy 0." in result.stdout
    assert "after 20 answers: accuracy 0." in result.stdout
    assert str(page.absolute()) in result.stdout
    text = page.read_text()
    assert text.count('<img class="odd"') + text.count("<img src") > 100
    assert "After 20 answers: grouped by shape" in text


def test_the_demo_is_reproducible_and_prints_json(run: Run) -> None:
    first, second = (json_of(run(*FEW, "-o", "page.html", "--json")) for _ in range(2))
    assert (first["wanted"], first["guessed"], first["n_answers"]) == ("shape", "background", 20)
    assert first["acc"] == second["acc"]
    assert first["acc"]["guessed"] > first["acc"]["before"] + 0.2
    assert first["acc"]["after"] >= first["acc"]["before"]
