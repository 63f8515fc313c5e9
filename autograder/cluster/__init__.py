"""Grading past one machine: the phases of grading as commands, and engines that run them.

=============  =========================================================================
``work``       what is to be examined, by which rules: a file that any worker can read
``examine``    a worker: examines its share of it, or says why it must not
``phases``     collect, examine, report; ``commands`` has them on the command line
``engines``    ``grade --engine``: which examiner a run has
``slurm``      an examiner that is a job array; ``slurm_queue`` has Slurm's commands
``on_dask``    an examiner that is a Dask cluster; ``dask_worker`` runs on its workers
=============  =========================================================================

Workers share a folder with the coordinator and nothing else. They read what was collected and
write verdicts, each file whole and by one writer; collecting, the gradebook and all pages are
the coordinator's alone.
"""
