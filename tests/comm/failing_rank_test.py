"""A job of which one rank dies or hangs ends soon, with an error that names that rank.

usage: failing_rank_test.py MPIEXEC PROGRAM
"""
import os
import re
import subprocess
import sys
import unittest

MPIEXEC, PROGRAM = sys.argv[1:3]
# Open MPI refuses root and more ranks than cores unless told; MPICH knows no such settings
os.environ.update(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")


NAMED_OR_ENDED = r"rank [01] says: rank 2 \(process \d+\) has died|BAD TERMINATION"  # MPICH ends the others at once


class FailingRank(unittest.TestCase):
    def output_of(self, *words, ranks=3):
        job = subprocess.run([MPIEXEC, "-n", str(ranks), PROGRAM, *words], text=True, timeout=100,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertNotEqual(job.returncode, 0, job.stdout)
        return job.stdout

    # At the time limit they would be said not to have come.
    def test_a_rank_that_is_killed_is_named(self):
        self.assertRegex(self.output_of("killed"), NAMED_OR_ENDED)

    def test_a_rank_that_leaves_without_a_word_is_named(self):
        self.assertRegex(self.output_of("leaves"), NAMED_OR_ENDED)

    def test_one_rank_names_the_one_that_hangs_after_the_time_limit(self):
        output = self.output_of("hangs")
        self.assertRegex(output, r"rank [01] says: rank 2 \(process \d+\) has not come to the exchange of the test's "
                                 r"gradients within 5 s")
        self.assertEqual(len(re.findall(r"rank \d says:", output)), 1, output)

    # The others wait for it, or do not: it is named within its time limit and not when they have ended.
    def test_a_suspended_rank_is_named_in_every_form(self):
        for form in ["rma_ring", "all", "master", "synchronous_master"]:
            with self.subTest(form):
                output = self.output_of("suspended", form, ranks=4)
                self.assertRegex(output, r"rank [012] says: rank 3 \(process \d+\) has (shown no sign of life for 5 s|"
                                         r"not come to (the exchange of the test's gradients|be served by the exchange) within 5 s)")
                self.assertEqual(len(re.findall(r"rank \d says:", output)), 1, output)

    # Of ranks of other nodes nothing is seen but what they send.
    def test_a_suspended_worker_of_a_master_on_another_node_is_named(self):
        for form in ["master", "groups"]:
            with self.subTest(form):
                self.assertRegex(self.output_of("suspended", form, "1", ranks=4),
                                 r"rank [012] says: rank 3 has shown no sign of life for 5 s")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-v"])
