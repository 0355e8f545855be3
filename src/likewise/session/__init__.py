"""Sessions on disk: images, criteria, the answer log, groups, results, import and export."""

from likewise.session.assignments import Assignment, assignments
from likewise.session.criteria import Criterion
from likewise.session.export.folders import export_folders
from likewise.session.export.formats import Exported, export_csv
from likewise.session.groups import Group, Groups
from likewise.session.images import Changes, Images
from likewise.session.import_answers import (
    Imported,
    Problem,
    answer_lines,
    export_answers,
    import_answers,
)
from likewise.session.log import Entry
from likewise.session.results import Results, load_results, save_results
from likewise.session.session import Session

__all__ = [
    "Assignment",
    "Changes",
    "Criterion",
    "Entry",
    "Exported",
    "Group",
    "Groups",
    "Images",
    "Imported",
    "Problem",
    "Results",
    "Session",
    "answer_lines",
    "assignments",
    "export_answers",
    "export_csv",
    "export_folders",
    "import_answers",
    "load_results",
    "save_results",
]
