"""One person's work on disk: the answer log, orientations, export."""

from likewise.session.answers import Entry
from likewise.session.assignments import Assignment, assignments
from likewise.session.export import Exported, export_csv, export_folders
from likewise.session.groups import Group, Groups
from likewise.session.images import Changes, Images
from likewise.session.orientations import Orientation
from likewise.session.results import Results, load_results, save_results
from likewise.session.session import Session
from likewise.session.sieve import Problem
from likewise.session.transfer import Imported, answer_lines, export_answers, import_answers

__all__ = [
    "Assignment",
    "Changes",
    "Entry",
    "Exported",
    "Group",
    "Groups",
    "Images",
    "Imported",
    "Orientation",
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
