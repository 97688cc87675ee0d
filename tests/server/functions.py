#!/usr/bin/env python3
"""Functions that one can write: every example of examples/functions and what `sluice init` writes is deployed, called and
profiled; functions that declare nothing are profiled with their first request; what fails says so where it is looked for.

usage: functions.py [test …]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from serving import HERE, PROGRAM, Folder, Server, deployment, wait_until

ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples/functions"
MODELS = ROOT / "examples/vision/models"
TORCH = (Path(PROGRAM).parent / "sluice-torch.so").exists()
PYTHON = "/usr/bin/python3"  # has numpy where packages.txt is installed


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.server = Server(os.path.join(cls.folder.__enter__(), "data"))

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        cls.folder.__exit__()

    def run_cli(self, *arguments, status=0):
        ran = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, cwd=ROOT,
                             env={**os.environ, "SLUICE_SERVER": self.server.address, "SLUICE_KEY": self.server.key,
                                  "NO_COLOR": "1"})
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def deploy(self, document, files=None, status=200):
        got, _, body = self.server.call("POST", "/v1/applications", deployment(document, files=files))
        answer = json.loads(body)
        self.assertEqual(got, status, answer)
        return answer

    def application(self, name):
        return next(a for a in self.server.get("/v1/applications")["applications"] if a["name"] == name)

    def function(self, application, name="f"):
        return next(f for f in self.application(application)["functions"] if f["name"] == name)

    def states(self, application):
        return {f["profiled"] for f in self.application(application)["functions"]}

    def wait_profiled(self, application):
        def known():
            functions = self.application(application)["functions"]
            for function in functions:
                self.assertNotEqual(function["profiled"], "failed", function)
            return all(f["profiled"] in ("document", "measured", "learned") for f in functions)
        wait_until(f"{application} is profiled", known, patience=120)
        self.assertEqual(self.application(application)["reason"], "")

    def infer(self, model, name, shape, data, kind="FP32", status=200):
        body = {"inputs": [{"name": name, "datatype": kind, "shape": shape, "data": data}], "parameters": {"slo_ms": 30000}}
        got, _, answer = self.server.call("POST", f"/v2/models/{model}/infer", body)
        self.assertEqual(got, status, answer)
        return json.loads(answer)


class FirstRequest(Functions):
    """Functions whose documents do not say what their inputs are."""

    ECHO = "import numpy as np\n" \
           "def run(inputs):\n" \
           "    x = inputs['x']\n" \
           "    return {'seen': np.array([list(x.shape[1:])] * len(x)), 'x': x}\n"

    def deploy_echo(self, name, source=ECHO):
        return self.deploy(f"application: {name}\nslo: {{latency: 30s}}\nfunctions: {{f: {{runtime: python, model: f.py}}}}\n"
                           "workflow: {f: {}}\n", {"f.py": f"# {name}: what was measured is kept by content\n{source}"})

    def test_the_first_request_is_the_sample(self):
        answer = self.deploy_echo("sampled")
        self.assertIn("measured with the inputs of its first request", " ".join(answer["messages"]))
        function = self.function("sampled")
        self.assertEqual((function["profiled"], function["profile"], function["loaded"]), ("waiting", "none", ["node-0"]))
        self.assertIn("waits for its first request to be profiled", self.application("sampled")["reason"])
        self.assertIn("waits for its first request", self.run_cli("apps"))
        self.infer("sampled", "x", [3], [1, 2, 3])
        self.wait_profiled("sampled")
        self.assertEqual(self.function("sampled")["profile"], "table")
        self.infer("sampled", "x", [3], [1, 2, 3])
        self.assertEqual(self.function("sampled")["loaded"], ["node-0"])
        self.assertIn("node-0", self.run_cli("apps"))

    def test_a_call_of_the_function_alone_is_a_first_request_too(self):
        self.deploy_echo("alone")
        self.infer("alone.f", "x", [3], [1, 2, 3])
        self.wait_profiled("alone")

    def test_a_request_that_fails_is_no_sample(self):
        self.deploy_echo("picky", "def run(inputs):\n    return {'y': inputs['x']}\n")
        self.infer("picky", "z", [1], [1], status=500)
        self.assertEqual(self.function("picky")["profiled"], "waiting")
        self.infer("picky", "x", [1], [1])
        self.wait_profiled("picky")

    def test_why_profiling_failed_is_said_for_ever(self):
        once = "import os\nmark = os.path.join(os.environ['HOME'], 'ran')\n" \
               "def run(inputs):\n" \
               "    if os.path.exists(mark) and open(mark).read() != str(os.getpid()):\n" \
               "        raise RuntimeError('only once')\n" \
               "    open(mark, 'w').write(str(os.getpid()))\n" \
               "    return {'y': inputs['x']}\n"
        self.deploy_echo("once", once)
        self.infer("once", "x", [1], [1])
        wait_until("profiling has failed", lambda: self.function("once")["profiled"] == "failed")
        self.assertIn("only once", self.function("once")["why"])
        self.assertIn("could not be profiled: RuntimeError: only once", self.application("once")["reason"])
        said = self.run_cli("apps")
        self.assertIn("could not be profiled: RuntimeError: only once", said)
        self.assertIn("only once", self.run_cli("apps", "--json"))

    def test_a_function_that_refuses_made_up_inputs_waits_for_a_request(self):
        picky = "def run(inputs):\n" \
                "    if (inputs['x'] < 1).any(): raise ValueError('only numbers from 1 on')\n" \
                "    return {'y': inputs['x']}\n"
        self.deploy("application: particular\nslo: {latency: 30s}\n"
                    "functions: {f: {runtime: python, model: f.py, inputs: {x: {type: FP32, shape: [2]}}}}\nworkflow: {f: {}}\n",
                    {"f.py": picky})
        wait_until("it waits", lambda: self.function("particular")["profiled"] == "waiting")
        self.assertIn("only numbers from 1 on", self.application("particular")["reason"])
        self.infer("particular", "x", [2], [1, 2])
        self.wait_profiled("particular")

    def test_a_leading_one_is_the_batch_dimension_of_what_nobody_declares(self):
        self.deploy_echo("shapes")
        for shape, seen, given in (([1, 3], [3], [1, 3]), ([3], [3], [3]), ([1], [1], [1]), ([2, 3], [2, 3], [2, 3]),
                                   ([1, 1, 3], [1, 3], [1, 1, 3])):
            with self.subTest(shape=shape):
                count = 1
                for length in shape:
                    count *= length
                outputs = {o["name"]: o for o in self.infer("shapes", "x", shape, list(range(count)))["outputs"]}
                self.assertEqual(outputs["seen"]["data"], seen)
                self.assertEqual(outputs["x"]["shape"], given)

    def test_a_list_of_one_item_stays_a_list(self):
        self.deploy("application: lists\nslo: {latency: 30s}\nfunctions: {f: {runtime: python, model: f.py}}\n"
                    "workflow: {f: {foreach: request.x, inputs: {x: request.x}}}\n", {"f.py": self.ECHO})
        outputs = {o["name"]: o for o in self.infer("lists", "x", [1, 3], [1, 2, 3])["outputs"]}
        self.assertEqual(outputs["x"]["shape"], [1, 3])
        self.assertEqual(outputs["seen"]["data"], [3])

    @unittest.skipUnless(TORCH, "built without libtorch")
    def test_the_readmes_own_document(self):
        text = (ROOT / "README.md").read_text()
        document = re.search(r"```yaml\n(application: image-classification\n.*?)```", text, re.DOTALL).group(1)
        folder = Path(self.folder.path) / "readme"
        (folder / "models").mkdir(parents=True)
        (folder / "app.yaml").write_text(document)
        for model in ("super_resolution", "segmentation", "classification"):
            shutil.copy(MODELS / f"{model}.pt", folder / "models")
        self.assertIn("the inputs of its first request will be its sample", self.run_cli("check", str(folder / "app.yaml")))
        self.run_cli("deploy", str(folder / "app.yaml"))
        self.assertEqual(self.states("image-classification"), {"waiting"})
        pixels = [0.5] * (3 * 32 * 32)
        with_batch = self.infer("image-classification", "image", [1, 3, 32, 32], pixels)["outputs"]
        without = self.infer("image-classification", "image", [3, 32, 32], pixels)["outputs"]
        self.assertEqual([o["shape"][0] for o in with_batch], [1] * len(with_batch))
        self.assertEqual([[1, *o["shape"]] for o in without], [o["shape"] for o in with_batch])
        self.assertEqual([o["data"] for o in without], [o["data"] for o in with_batch])
        self.run_cli("invoke", "image-classification", "--image", f"image={ROOT}/examples/vision/scenes/1_input.png", "--slo", "30s")
        wait_until("one is profiled, others are being", lambda: {"measured", "learned"} & self.states("image-classification"))
        self.assertLessEqual(self.states("image-classification"), {"measured", "learned", "measuring"})

    @unittest.skipUnless(TORCH, "built without libtorch")
    def test_a_model_says_which_input_it_could_not_use(self):
        for name, more in (("undeclared", ""), ("declared", ", inputs: {image: {type: FP32, shape: [-1, -1]}}, "
                                                            "profile: {table: [[1, 1, 0, 5, 1]]}")):
            self.deploy_binary(f"application: {name}\nslo: {{latency: 30s}}\n"
                               f"functions: {{f: {{runtime: torch, model: m.pt{more}}}}}\nworkflow: {{f: {{}}}}\n",
                               {"m.pt": (MODELS / "deblur.pt").read_bytes()})
            error = self.infer(name, "image", [5, 7], [0] * 35, status=500)["error"]
            self.assertIn("input `image` of shape [5, 7]", error)
            self.assertEqual("(declared [-1, -1])" in error, bool(more), error)
            self.assertNotIn("\n", error)

    def deploy_binary(self, document, files):
        folder = Path(tempfile.mkdtemp(dir=self.folder.path))
        (folder / "app.yaml").write_text(document)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        self.run_cli("deploy", str(folder / "app.yaml"))


class Samples(Functions):
    def test_a_sample_is_tried_and_measured_with(self):
        even = "def run(inputs):\n" \
               "    if (inputs['x'] % 2).any(): raise ValueError('only even numbers')\n" \
               "    return {'y': inputs['x']}\n"
        document = "application: even\nslo: {latency: 30s}\nfunctions: {f: {runtime: python, model: f.py, " \
                   "inputs: {x: {type: INT64, shape: [2]}}, sample: SAMPLE}}\nworkflow: {f: {}}\n"
        self.deploy(document.replace("SAMPLE", "{x: [2, 4]}"), {"f.py": even})
        self.wait_profiled("even")
        answer = self.deploy(document.replace("SAMPLE", "s.json"), {"f.py": even, "s.json": '{"x": [1, 2]}'}, status=400)
        self.assertIn("fails with its own `sample:`: ValueError: only even numbers", answer["error"])
        answer = self.deploy(document.replace("SAMPLE", "{x: [2, 4, 6]}"), {"f.py": even}, status=400)
        self.assertRegex(answer["error"], r"app.yaml:3:\d+: error: functions.f.sample.x: has shape \[3\], declared is \[2\]")


class Examples(Functions):
    def try_out(self, folder, application, expected):
        self.run_cli("deploy", str(folder / "app.yaml"))
        said = self.run_cli("invoke", application, "--data", f"@{folder / 'sample.json'}", "--slo", "30s")
        for text in expected:
            self.assertIn(text, said)
        self.wait_profiled(application)

    def test_python(self):
        self.try_out(EXAMPLES / "python", "python-start", ["mean", "2.5", "largest", "4"])

    @unittest.skipUnless(TORCH, "built without libtorch")
    def test_torch(self):
        self.try_out(EXAMPLES / "torch", "torch-start", ["probabilities"])

    def test_process(self):
        self.try_out(EXAMPLES / "process", "process-start", ["HELLO"])
        request = self.server.get("/v1/requests?application=process-start&limit=1")["requests"][0]
        self.assertIn("asked: {'text': 'hello'}", self.run_cli("trace", request["id"], "--log"))

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_a_program_in_c(self):
        folder = Path(tempfile.mkdtemp(prefix="sluice-words-"))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-o", folder / "words", EXAMPLES / "process/words.c"], check=True)
        self.deploy(f"application: words\nslo: {{latency: 30s}}\n"
                    f"functions: {{f: {{runtime: process, command: [{folder}/words], sample: {{text: a b}}}}}}\nworkflow: {{f: {{}}}}\n")
        self.assertEqual(self.infer("words", "text", [1], ["three words here"], "BYTES")["outputs"][0]["data"], [3])
        self.assertIn("NoText", self.infer("words", "other", [1], ["x"], "BYTES", status=500)["error"])
        self.wait_profiled("words")

    def test_texts_and_named_errors(self):
        self.run_cli("deploy", str(EXAMPLES / "text/app.yaml"))
        outputs = {o["name"]: o["data"] for o in self.infer("text-start", "text", [1], ["two words"], "BYTES")["outputs"]}
        self.assertEqual(outputs, {"first": ["two"], "count": [2]})
        outputs = {o["name"]: o["data"] for o in self.infer("text-start", "text", [1], [" "], "BYTES")["outputs"]}
        self.assertEqual(outputs, {"first": ["sorry"], "count": [0]})
        self.wait_profiled("text-start")

    def test_emulated(self):
        self.run_cli("deploy", str(EXAMPLES / "emulated/app.yaml"))
        outputs = self.infer("emulated-start", "image", [3, 8, 8], [0] * 192)["outputs"]
        self.assertEqual([(o["name"], o["data"]) for o in outputs], [("score", [0])])
        self.assertEqual(self.function("emulated-start", "detect")["profiled"], "document")

    def test_init(self):
        for runtime in ("python", "process", *(["torch"] if TORCH else [])):
            with self.subTest(runtime):
                folder = Path(self.folder.path) / f"my-{runtime}"
                said = self.run_cli("init", str(folder), "--runtime", runtime)
                commands = [line.split()[1:] for line in said.splitlines() if line.startswith("  sluice ")]
                self.assertEqual([command[0] for command in commands], ["deploy", "invoke", "apps"])
                for command in commands:
                    self.run_cli(*command, *(["--slo", "30s"] if command[0] == "invoke" else []))
                self.wait_profiled(f"my-{runtime}")
                before = (folder / "app.yaml").read_text()
                self.assertIn("is there already", self.run_cli("init", str(folder), "--runtime", runtime, status=1))
                self.assertEqual((folder / "app.yaml").read_text(), before)


class Environments(Functions):
    WHERE = "import sys\nimport numpy as np\ndef run(inputs):\n    return {'prefix': np.array([[sys.prefix]], dtype=object)}\n"

    def deploy_with(self, python, status=200, files=None):
        return self.deploy(f"application: where\nslo: {{latency: 30s}}\nfunctions: {{f: {{runtime: python, model: f.py, "
                           f"sample: {{x: 1}}, python: {python}}}}}\nworkflow: {{f: {{}}}}\n", {"f.py": self.WHERE, **(files or {})}, status)

    def test_a_function_has_an_environment_of_its_own(self):
        folder = Path(tempfile.mkdtemp(prefix="sluice-venv-"))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        made = subprocess.run([PYTHON, "-m", "venv", "--without-pip", "--system-site-packages", folder / "env"], check=False,
                              capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest(made.stderr)
        self.deploy_with(f"{{venv: {folder}/env}}")
        self.assertEqual(self.infer("where", "x", [1], [1])["outputs"][0]["data"], [f"{folder}/env"])

    def test_an_environment_that_is_not_there_is_refused(self):
        error = self.deploy_with("{venv: /there/is/none}", 400)["error"]
        self.assertIn("there is no interpreter '/there/is/none/bin/python3'", error)
        self.assertIn("python3 -m venv", error)

    def test_what_an_interpreter_lacks_is_refused_by_name(self):
        wanted = "numpy>=1.2,!=1.3 # there\n\nnumpy>=99\nno-such-package\n"
        error = self.deploy_with("{requirements: r.txt}", 400, {"r.txt": wanted})["error"]
        self.assertRegex(error, r"lacks numpy>=99 \(installed is [0-9.]+\), no-such-package \(is not installed\)")
        self.deploy_with("{requirements: [numpy>=1.2]}")
        error = self.deploy_with("{requirements: r.txt}", 400, {"r.txt": "numpy\n-r other.txt\n"})["error"]
        self.assertIn("r.txt:2:1: error:", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
