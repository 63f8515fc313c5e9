"""The page on which a student starts: the assignments in order, and how far one has come."""

from lab_utils.kit.start.notebook import start, start_notebook, write_start
from lab_utils.kit.start.page import Page
from lab_utils.kit.start.standing import Standing, standings
