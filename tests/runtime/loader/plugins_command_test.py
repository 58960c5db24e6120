"""`mortise plugins` and `mortise check` from outside: damaged files, rights, order of folders, the own tree.

Flow: run by CTest (mortise_add_python_test). Each test works in a folder of its own with a copy of the program,
so that the own tree is what the test puts there. Random damage prints its seed; MORTISE_SEED replays it.
"""
import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["MORTISE_BUILD"])
FAULTS = BUILD / "faults"
SEED = int(os.environ.get("MORTISE_SEED", "20240611"))
FLIPPED_FILES = 300
CUT_BYTES = 64


def fault(name):
    return FAULTS / name / f"{name}.so"


class PluginsCommand(unittest.TestCase):
    def setUp(self):
        os.umask(0o022)  # the program refuses files that others may write
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="mortise-plugins-")))
        self.addCleanup(shutil.rmtree, self.root)
        self.program = self.root / "bin" / "mortise"
        self.program.parent.mkdir()
        shutil.copy(os.environ["MORTISE_BIN"], self.program)
        self.folder = self.root / "plugins"
        self.folder.mkdir()

    def run_mortise(self, *arguments, program=None, cwd=None, variable=None):
        environment = {k: v for k, v in os.environ.items() if k != "MORTISE_PLUGINS"}
        if variable is not None:
            environment["MORTISE_PLUGINS"] = variable
        return subprocess.run([program or self.program, *map(str, arguments)], capture_output=True, text=True,
                              timeout=60, cwd=cwd or self.root, env=environment)

    def plugins(self, *folders, **options):
        """What `plugins --json` prints; it must exit 0 whatever it finds."""
        arguments = [word for folder in folders for word in ("--plugins", folder)]
        done = self.run_mortise("plugins", "--json", *arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        out = json.loads(done.stdout)
        self.assertEqual(list(out), ["plugins", "refused"])
        for refusal in out["refused"]:
            self.assertEqual(list(refusal), ["path", "reason"])
            self.assertTrue(refusal["reason"].isprintable(), refusal)
        return out

    def put(self, name, to="good.so"):
        shutil.copy(fault(name), self.folder / to)
        return self.folder / to

    def refused(self, path):
        out = self.plugins(path.parent)
        self.assertEqual(out["plugins"], [])
        self.assertEqual([r["path"] for r in out["refused"]], [str(path)])
        return out["refused"][0]["reason"]

    def test_a_good_plugin_is_listed(self):
        path = self.put("good")
        rows = self.plugins(self.folder)["plugins"]
        self.assertEqual(rows, [{
            "id": "fault.good", "kind": "sampler", "name": "good", "version": "1.0", "path": str(path),
            "abi": 1, "isa": [], "parameters": [{"name": "level", "type": "int", "default": 3, "range": "[0, 10]",
                                       "unit": None, "help": "a number to keep", "config": True,
                                       "request": False}]}])

    def test_each_fault_has_its_own_reason(self):
        expected = {
            "plain_library": "without the Mortise note", "abi2": "ABI 2", "unknown_kind": "'samplr'",
            "unknown_interface": "'mortise.draft.sampler/99'", "unknown_key": "'ida'",
            "damaged_note": "manifest is damaged", "no_entry": "mortise_plugin_v1",
            "missing_symbol": "nobody_defines_this", "missing_library": "libmortise_gone.so",
            "other_version": "'2.0'", "bad_range": "'level'", "crash": "crashed", "hang": "5000 ms",
            "exit": "exit status 3", "isa_unheard_of": "'unheard_of'"}
        reasons = set()
        for name, part in expected.items():
            with self.subTest(name):
                reason = self.refused(self.put(name))
                self.assertIn(part, reason)
                reasons.add(reason)
        self.assertEqual(len(reasons), len(expected))

    def test_a_feature_of_another_processor_is_refused_before_its_constructor_runs(self):
        flags = Path("/proc/cpuinfo").read_text().split("\n\n")[0].split()
        by_flag = {"avx512_bf16": "avx512bf16", "avx_vnni": "avxvnni", "avx512_vnni": "avx512vnni",
                   "avx512f": "avx512f"}
        lacking = [name for flag, name in by_flag.items() if flag not in flags]
        for feature in [*lacking, "unheard_of"]:
            self.assertIn(f"'{feature}', which this machine lacks", self.refused(self.put(f"isa_{feature}")))

    def test_foreign_files(self):
        (self.folder / "a_empty.so").write_bytes(b"")
        (self.folder / "b_text.so").write_text("not a library\n")
        (self.folder / "c_folder.so").mkdir()
        (self.folder / "d_link.so").symlink_to("nowhere")
        good = fault("good").read_bytes()
        patches = (("e_32bit", 4, 1), ("f_big_endian", 5, 2), ("g_aarch64", 18, 183), ("h_program", 16, 2))
        for name, at, value in patches:
            (self.folder / f"{name}.so").write_bytes(good[:at] + bytes([value]) + good[at + 1:])
        refused = {Path(r["path"]).stem: r["reason"] for r in self.plugins(self.folder)["refused"]}
        words = {"a_empty": "empty", "b_text": "text file", "c_folder": "directory", "d_link": "leads to no file",
                 "e_32bit": "32-bit", "f_big_endian": "big-endian", "g_aarch64": "aarch64",
                 "h_program": "a program"}
        self.assertEqual(list(refused), list(words))
        for name, word in words.items():
            self.assertIn(word, refused[name])

    def test_a_plugin_cut_at_any_64th_byte_is_refused(self):
        good = fault("good").read_bytes()
        cuts = range(0, len(good), CUT_BYTES)
        for size in cuts:
            (self.folder / f"cut{size:08}.so").write_bytes(good[:size])
        out = self.plugins(self.folder)
        self.assertEqual((out["plugins"], len(out["refused"])), ([], len(cuts)))

    def test_random_damage_is_listed_or_refused(self):
        print(f"MORTISE_SEED={SEED}")
        chance = random.Random(SEED)
        good = fault("good").read_bytes()
        listed = 0
        for i in range(FLIPPED_FILES):
            damaged = bytearray(good)
            for _ in range(chance.choice((1, 1, 2, 8))):
                damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            path = self.folder / f"flip{i}.so"
            path.write_bytes(damaged)
            out = self.plugins(self.folder)
            self.assertEqual(len(out["plugins"]) + len(out["refused"]), 1, f"file {i} of seed {SEED}")
            listed += len(out["plugins"])
            path.unlink()
        self.assertTrue(0 < listed < FLIPPED_FILES, listed)

    def test_rights(self):
        path = self.put("good")
        path.chmod(0o775)
        self.assertIn("writable", self.refused(path))
        path.chmod(0o755)
        self.folder.chmod(0o777)
        self.assertIn("writable", self.refused(path))
        self.folder.chmod(0o1777)
        self.assertEqual(len(self.plugins(self.folder)["plugins"]), 1)

    def test_order_of_folders(self):
        own = self.root / "lib" / "mortise"
        by_variable = self.root / "variable"
        for folder in (own, by_variable):
            folder.mkdir(parents=True)
            shutil.copy(fault("good"), folder / "x.so")
        path = self.put("again")
        out = self.plugins(self.folder, variable=f"{by_variable}:")
        self.assertEqual([row["path"] for row in out["plugins"]], [str(path)])
        self.assertEqual([r["path"] for r in out["refused"]], [str(by_variable / "x.so"), str(own / "x.so")])
        for refusal in out["refused"]:
            self.assertIn(f"shadowed by {path}", refusal["reason"])
        self.assertEqual([row["path"] for row in self.plugins(variable=str(by_variable))["plugins"]],
                         [str(by_variable / "x.so")])

    def test_the_own_tree_is_found_through_a_link_and_the_working_directory_is_not_searched(self):
        own = self.root / "lib" / "mortise"
        own.mkdir(parents=True)
        shutil.copy(fault("other"), own / "other.so")
        self.put("good")
        link = self.root / "elsewhere"
        link.symlink_to(self.program)
        for program in (self.program, link):
            rows = self.plugins(program=program, cwd=self.folder)["plugins"]
            self.assertEqual([row["path"] for row in rows], [str(own / "other.so")])

    def test_the_table_for_people(self):
        path = self.put("good")
        bad = self.put("abi2", "bad.so")
        done = self.run_mortise("plugins", "--plugins", self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^KIND +NAME +PLUGIN +VERSION +FILE\n")
        self.assertRegex(done.stdout, rf"\nsampler +good +fault.good +1.0 +{path}\n")
        self.assertIn(f"\nrefused:\n  {bad}: made for plugin ABI 2", done.stdout)

    def test_check(self):
        done = self.run_mortise("check", fault("good"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("sampler:good, 1 parameters", done.stdout)
        done = self.run_mortise("check", "--json", fault("missing_symbol"))
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["ok"]), (1, False))
        self.assertEqual([c["name"] for c in report["checks"]], ["file", "elf", "manifest", "host", "load"])
        self.assertIn("nobody_defines_this", report["checks"][-1]["detail"])

    def test_wrong_arguments_are_one_line_and_status_2(self):
        cases = {("plugns",): "plugns: unknown command; did you mean 'plugins'?",
                 ("plugins", "--jsn"): "--jsn: unknown option; did you mean '--json'?",
                 ("plugins", "x"): "x: one argument too many; remove it",
                 ("plugins", "--plugins"): "--plugins: ", ("check",): "PLUGIN.so: is required; ",
                 ("plugins", "--plugins", "/nonexistent"): "--plugins /nonexistent: cannot be listed: ",
                 (): "COMMAND: none given; "}
        for arguments, start in cases.items():
            done = self.run_mortise(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertTrue(done.stderr.startswith("mortise: error: " + start), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        for arguments in (["--help"], ["plugins", "--help"], ["check", "--help"], ["version"]):
            done = self.run_mortise(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("ortise", done.stdout)


if __name__ == "__main__":
    unittest.main()
