"""The course as ``setup/course.toml`` describes it: its name, its assignments, their notebooks."""

from lab_utils.kit.course.course_file import (
    COURSE_FILE,
    RELEASE_NAME,
    START,
    Assignment,
    Course,
    CourseError,
    Notebook,
    read_course,
)
