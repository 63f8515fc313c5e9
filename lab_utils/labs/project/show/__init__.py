"""Yours beside what is wanted, for the tasks of the project."""

from lab_utils.kit.task import Show
from lab_utils.labs.project.show import plan, results, selection

SHOW: dict[str, Show] = {
    "5.1": selection.candidates,
    "5.2": selection.rebuild,
    "5.3": selection.described,
    "5.4": selection.updated,
    "5.5": plan.simulated,
    "5.6": plan.chosen,
    "6.1": selection.analysed,
    "6.2": results.baseline,
    "6.3": plan.rewritten,
    "6.4": results.recomputed,
    "6.5": results.latency,
}
