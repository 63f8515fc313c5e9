"""How the tasks of the project are asked."""

from lab_utils.kit.answers import ask_file
from lab_utils.kit.task import Ask
from lab_utils.labs.project.ask.candidates import ask_candidates, ask_describe, ask_rebuild
from lab_utils.labs.project.ask.experiments import ask_analyse, ask_recompute
from lab_utils.labs.project.ask.greedy import ask_choose, ask_simulate, ask_update
from lab_utils.labs.project.ask.lending import BORROWED

ASK: dict[str, Ask] = {
    "5.1": ask_candidates,
    "5.2": ask_rebuild,
    "5.3": ask_describe,
    "5.4": ask_update,
    "5.5": ask_simulate,
    "5.6": ask_choose,
    "6.1": ask_analyse,
    "6.2": ask_file,
    "6.3": ask_recompute,
    "6.4": ask_file,
    "6.5": ask_file,
}
