"""nbgrader, told where things are in this repository. The builder reads this file, too."""

import os
import sys
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821  (traitlets puts it here)

ROOT = Path(__file__).resolve().parents[1]
# Where submissions, the gradebook and all that is made of them lie.
HOME = Path(os.environ.get("AUTOGRADER_HOME") or ROOT / "autograder").resolve()
# formgrader wants all of it below the folder in which Jupyter was started.
COURSE = ROOT if HOME == ROOT / "autograder" else HOME


def below(path: Path) -> str:
    """As nbgrader wants it: seen from the root of the course."""
    return os.path.relpath(path, COURSE)


if str(ROOT) not in sys.path:  # the command `nbgrader` does not look here by itself
    sys.path.append(str(ROOT))

# nbgrader calls `alembic` to make a gradebook, and finds it only in an activated environment.
if (programs := str(Path(sys.executable).parent)) not in os.get_exec_path():
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

c.CourseDirectory.root = str(COURSE)
c.CourseDirectory.source_directory = below(ROOT / "solutions")
c.CourseDirectory.release_directory = below(ROOT / "notebooks")
c.CourseDirectory.submitted_directory = below(HOME / "submitted")
c.CourseDirectory.autograded_directory = below(HOME / "autograded")
c.CourseDirectory.feedback_directory = below(HOME / "feedback")
c.CourseDirectory.solution_directory = below(HOME / "solution")
c.CourseDirectory.source_with_tests_directory = below(HOME / "source_with_tests")
c.ZipCollectApp.downloaded_directory = below(HOME / "downloaded")
c.CourseDirectory.db_url = f"sqlite:///{HOME / 'gradebook.db'}"

# Never copied along with notebooks: a .py file there could be a solution.
c.CourseDirectory.ignore = [
    "*.py",
    "*.pyc",
    "__pycache__",
    "*_cache",
    ".ipynb_checkpoints",
    ".DS_Store",
    "feedback",
]

c.ClearSolutions.code_stub = {
    "python": "# Your code here, in place of the next line.\n"
    'raise NotImplementedError("still to be written: fill in this cell, then run it again")'
}
c.ClearSolutions.text_stub = "*Your answer here, in place of this line.*"

# It would run solution cells while a release is made. We write no AUTOTEST lines.
c.InstantiateTests.enabled = False

# Notebooks run in a sandbox, and a judge decides; the rest is stock.
c.Autograde.autograde_preprocessors = [
    "autograder.grading.nbgrader_step.SandboxedExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.classroom.by_hand.SaveGrades",
    "autograder.classroom.late_step.AssignPenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# Feedback shows neither hidden tests nor their tracebacks, and loads nothing from the web.
c.GenerateFeedback.exporter_class = "autograder.classroom.self_contained.SelfContained"
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "autograder.classroom.hide.HideTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]


def introduce(assignment: str, **_: object) -> None:
    """Tell the gradebook of a lab that it has never met, so that autograde needs no step before."""
    from nbgrader.api import Gradebook, MissingEntry

    from autograder.authoring.build import register

    try:
        with Gradebook(c.CourseDirectory.db_url) as gradebook:
            gradebook.find_assignment(assignment)
    except MissingEntry:
        register(assignment, ROOT)


def dismiss(**_: object) -> None:
    """End the processes that were kept warm."""
    from autograder.grading.nbgrader_step import close

    close()


c.Autograde.pre_convert_hook = introduce
c.Autograde.post_convert_hook = dismiss
