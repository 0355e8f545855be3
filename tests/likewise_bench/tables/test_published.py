"""Every published figure in the tables agrees with the text of its paper, where that is present."""

import re
from collections import Counter
from pathlib import Path

import pytest

from likewise.errors import UnknownNameError
from likewise_bench.tables.published import paper_tables, published_values

PAPERS = Path(__file__).resolve().parents[3].parent / "shared" / "papers"
CELL = re.compile(r"^-?0?\.\d{2,4}$|^—$")
HEADS = {  # table -> how its first line begins, and how often that was seen before it
    "cc-2": ("Dataset\tCIFAR-10\t", 0),
    "cc-3": ("Dataset\tImageNet-Dogs", 0),
    "cc-4": ("Dataset\tAugmentation", 0),
    "cc-5": ("Dataset\tContrastive Head", 0),
    "occ-2": ("\t(\tCIFAR-1", 0),
    "occ-3": ("Orientation\tContrastive space", 0),
    "occ-4": ("Orientation\tLabel Extension", 0),
    "pcl-2": ("\t\tCIFAR10-2", 0),
    "pcl-3": ("\t\tCIFAR10-2", 1),
    "pcl-4": ("Module\tNMI", 0),
    "pcl-5": ("Query strategy\tNMI", 0),
    "dsac-i": ("Data sets\tNumber of annotations", 0),
    "dsac-ii": ("Data sets\tNumber of annotations", 1),
    "dsac-iii": ("Number of annotations\tWithout", 0),
}


def _lines(table: str) -> list[list[str]]:
    """Return the lines of a table in its paper's text, as cells."""
    file = PAPERS / f"{table.partition('-')[0]}.txt"
    if not file.is_file():
        pytest.skip(f"{file} is not here: the papers' texts are not part of this project")
    lines = file.read_text("utf-8").split("\n")
    head, n_before = HEADS[table]
    start = [i for i, line in enumerate(lines) if line.startswith(head)][n_before]
    end = next(i for i in range(start, len(lines)) if "\t" not in lines[i])
    return [line.split("\t") for line in lines[start:end]]


def _numbers(cells: list[str]) -> list[float | None]:
    return [None if c == "—" else float(c) for c in map(str.strip, cells) if CELL.match(c)]


def test_all_result_tables_of_the_four_papers_are_present() -> None:
    assert set(paper_tables()) == set(HEADS)


@pytest.mark.parametrize("table", HEADS)
def test_the_file_has_exactly_the_cells_of_the_papers(table: str) -> None:
    in_paper = Counter(number for line in _lines(table) for number in _numbers(line))
    assert in_paper == Counter(cell.value for cell in published_values(table))
    assert in_paper.total() > 5


@pytest.mark.parametrize("table", [name for name in HEADS if not name.startswith("dsac")])
def test_every_row_has_its_published_values_in_order(table: str) -> None:
    in_paper = [(line, _numbers(line)) for line in _lines(table) if _numbers(line)]
    rows = paper_tables()[table]["rows"]
    assert len(in_paper) == len(rows)
    for (line, numbers), row in zip(in_paper, rows, strict=True):
        assert numbers == [None if cell == "—" else cell for cell in row["cells"]]
        name = {"CC(Ours)": "CC", "Ours": "PCL"}
        words = [name.get(word, word) for word in line[:2]]
        assert row.get("printed", row["name"]) in words or row["name"] in words


@pytest.mark.parametrize(("table", "metric"), [("dsac-i", "ari"), ("dsac-ii", "nmi")])
def test_values_of_dsac_have_their_method_and_number_of_labels(table: str, metric: str) -> None:
    head, *lines = _lines(table)
    names = [re.sub(r" \[\d+\]", "", name) for name in head]
    dataset, found = "", {}
    for line in lines:
        dataset = {"STL-10": "stl10", "CIFAR-10": "cifar10", "CIFAR-100 -20": "cifar100"}.get(
            line[0], dataset
        )
        for column in (*range(2, 9), 10, 11):
            n = line[1] if column < 9 else line[9]
            found[dataset, names[column], int(n)] = float(line[column])
    ours = {
        (cell.dataset, cell.row, cell.n_answers): cell.value for cell in published_values(table)
    }
    assert found == ours
    assert {cell.metric for cell in published_values(table)} == {metric}


def test_the_ablation_of_dsac_has_two_values_per_variant() -> None:
    lines = [line for line in _lines("dsac-iii") if line[0].isdigit()]
    found = [(int(line[0]), value) for line in lines for value in map(float, line[1:])]
    ours = [(cell.n_answers, cell.value) for cell in published_values("dsac-iii")]
    assert found == ours


def _answers(table: str, row: str) -> dict[str, int | None]:
    return {cell.dataset: cell.n_answers for cell in published_values(table) if cell.row == row}


def test_cells_use_the_names_of_this_project() -> None:
    (acc,) = [
        cell
        for cell in published_values("occ-2")
        if (cell.row, cell.dataset, cell.criterion, cell.metric)
        == ("OCC", "cifar10", "personalised", "acc")
    ]
    assert (acc.value, acc.n_answers, acc.ours) == (0.945, 50_000, {"method": "occ"})
    assert _answers("occ-2", "OCC") == {"cifar10": 50_000, "cifar100": 50_000} | dict.fromkeys(
        ("imagenet10", "imagenet-dogs")
    )
    for table in ("pcl-2", "pcl-3"):
        assert _answers(table, "PCL") == {
            "cifar10": 10_000,
            "cifar100": 10_000,
            "imagenet10": 4_000,
        }
        assert set(_answers(table, "DCC").values()) == {10_000}
    assert {cell.criterion for cell in published_values("cc-2") if cell.dataset == "cifar100"} == {
        "superclass"
    }
    with pytest.raises(UnknownNameError, match="'pcl-9' is not a known table of a paper"):
        published_values("pcl-9")
