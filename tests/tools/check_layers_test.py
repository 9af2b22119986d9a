"""The include law's checker finds each kind of offence in a small tree made for it, and nothing in a lawful one."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
sys.path.insert(0, str(CHECKER.parent))
import check_layers  # noqa: E402  (the folder above is not a package)

LAWFUL = {
    "sagips/core/error.hpp": "#include <string>\n",
    "sagips/core/log.cpp": '#include <spdlog/logger.h>\n#include "sagips/core/error.hpp"\n',
    "sagips/core/CMakeLists.txt": "sagips_add_layer(core SOURCES log.cpp)\n",
    "sagips/data/dataset.hpp": '#include <torch/torch.h>\n#include "sagips/core/error.hpp"\n',
    "sagips/data/hdf5.cpp": '#include <hdf5.h>\n#include "sagips/data/dataset.hpp"\n',
    "sagips/data/CMakeLists.txt": "sagips_add_layer(data TORCH SOURCES hdf5.cpp USES core)\n",
    "sagips/record/json.hpp": "#include <nlohmann/json.hpp>\n",
    "sagips/record/metrics.cpp": '#include "sagips/record/json.hpp"\n',
    "sagips/train/loop.hpp": '#include "sagips/data/dataset.hpp"\n',
    "workloads/proxy1d/pipeline.cpp": '#include "sagips/data/dataset.hpp"\n',
    "workloads/registry.cpp": '#include "workloads/proxy1d/pipeline.hpp"\n',
    "workloads/proxy1d/pipeline.hpp": "#include <vector>\n",
    "sagips/cli/program.cpp": '#include <CLI/CLI.hpp>\n#include "sagips/train/loop.hpp"\n',
    "cli/main.cpp": '#include "workloads/proxy1d/pipeline.hpp"\n',
}


class CheckLayers(unittest.TestCase):
    def run_on(self, **changes):
        """Status and output for the lawful tree with some files replaced (a name's __ stands for a /)."""
        files = dict(LAWFUL)
        files.update({name.replace("__", "/").replace("_dot_", "."): text for name, text in changes.items()})
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, CHECKER, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def assert_offends(self, expected, **changes):
        status, output = self.run_on(**changes)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_accepts_a_lawful_tree_and_draws_its_arrows(self):
        status, output = self.run_on()
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"(?m)^data +core +HDF5 LibTorch$")

    def test_refuses_an_arrow_that_rises(self):
        self.assert_offends(
            'sagips/core/error.cpp:1: #include "sagips/data/dataset.hpp": core may include nothing of ours; not data',
            sagips__core__error_dot_cpp='#include "sagips/data/dataset.hpp"\n')

    def test_refuses_a_sibling(self):
        self.assert_offends("data may include core; not record",
                            sagips__data__reader_dot_cpp='#include "sagips/record/json.hpp"\n')

    def test_refuses_a_workload_that_includes_training(self):
        self.assert_offends("not train",
                            workloads__proxy1d__run_dot_cpp='#include "sagips/train/loop.hpp"\n')

    def test_refuses_a_workload_that_includes_another(self):
        self.assert_offends("not workloads/proxy1d",
                            workloads__resonance__run_dot_cpp='#include "workloads/proxy1d/pipeline.hpp"\n')

    def test_refuses_an_unknown_layer(self):
        self.assert_offends("folder 'helpers' is no layer", sagips__helpers__text_dot_cpp="#include <string>\n")

    def test_refuses_an_outside_library_in_the_wrong_layer(self):
        self.assert_offends("nn does not use yaml-cpp", sagips__nn__mlp_dot_cpp="#include <yaml-cpp/yaml.h>\n")

    def test_refuses_an_unknown_library(self):
        self.assert_offends("unknown library", sagips__nn__mlp_dot_cpp="#include <Eigen/Dense>\n")

    def test_refuses_a_second_source_with_hdf5(self):
        self.assert_offends("only one source uses HDF5, sagips/data/hdf5.cpp already does",
                            sagips__data__second_dot_cpp="#include <hdf5.h>\n")

    def test_refuses_a_second_launcher_of_child_processes(self):
        self.assert_offends("env does not use child processes",
                            sagips__env__launcher_dot_cpp="#include <sys/wait.h>\n")

    def test_refuses_mpi_outside_comm(self):
        self.assert_offends("train does not use MPI", sagips__train__loop_dot_cpp="#include <mpi.h>\n")

    def test_refuses_a_header_that_shows_a_library_to_another_layer(self):
        self.assert_offends("sees nlohmann-json through this header",
                            sagips__analysis__table_dot_cpp='#include "sagips/record/json.hpp"\n')

    def test_refuses_fmt_beside_torch(self):
        self.assert_offends("carries another fmt",
                            sagips__cli__print_dot_cpp='#include <fmt/core.h>\n#include "sagips/data/dataset.hpp"\n')

    def test_refuses_a_short_path(self):
        self.assert_offends("write the path from the top", sagips__core__error_dot_cpp='#include "error.hpp"\n')

    def test_refuses_angle_brackets_for_files_of_ours(self):
        self.assert_offends("with quotes", sagips__core__error_dot_cpp="#include <sagips/core/error.hpp>\n")

    def test_refuses_a_file_that_does_not_exist(self):
        self.assert_offends("there is no such file", sagips__core__a_dot_cpp='#include "sagips/core/none.hpp"\n')

    def test_refuses_a_cycle(self):
        self.assert_offends("include cycle sagips/core/a.hpp -> sagips/core/b.hpp -> sagips/core/a.hpp",
                            sagips__core__a_dot_hpp='#include "sagips/core/b.hpp"\n',
                            sagips__core__b_dot_hpp='#include "sagips/core/a.hpp"\n')

    def test_the_page_on_architecture_tells_the_same_law(self):
        page = (CHECKER.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"(?m)^\| ([\w, ]+?) \| ([\w, ]+?) \| .*\|$", page))
        told = {layer: words for names, words in rows.items() for layer in names.split(", ")}
        for layer, allowed in check_layers.LAYERS.items():
            if layer == "cli":
                continue
            with self.subTest(layer):
                self.assertEqual(set(re.findall(r"\w+", told[layer])) - {"nothing"}, set(allowed))

    def test_refuses_a_target_that_uses_a_higher_layer(self):
        self.assert_offends("target data USES env",
                            sagips__data__CMakeLists_dot_txt="sagips_add_layer(data TORCH USES core env)\n")


if __name__ == "__main__":
    unittest.main()
