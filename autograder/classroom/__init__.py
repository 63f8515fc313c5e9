"""A whole class: graded by ``grade``, from the command line by ``command``.

==================  ====================================================================
``grade``           collect, run and judge, store in the gradebook, tell everybody
``examiner``        what runs and judges on this machine: student code is on its other side
``pool``            several submissions at a time
``gradebook``       nbgrader's database: the only writer
``by_hand``         points that a person gave; ``overrides``: those set against the judge
``lateness``        how late, and what it costs; ``times``: when it was uploaded
``changes``         old points against new ones
``similarity``      which hand-ins are alike; ``written``: what of them students wrote
``explain``         all that led to the points of one student
``ledger``          who was graded, so that a run goes on where another was cut off
``home``            where all outcomes lie
``sheet``           all that is known about one student
``tables``          grades.csv, Canvas, Gradescope
``feedback``        the page of a student; ``report`` is that of the class
``charts``          their pictures
``remarks``         which remarks a student may read
``lock``            one run at a time in a folder
``self_contained``  the pages of nbgrader's own feedback, which load nothing
==================  ====================================================================
"""
