"""The functions, over the programs of `ROOFLIGHT_BIN`, and the notebook of examples/jupyter where Jupyter is installed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import rooflight

ROOT = Path(__file__).parents[2]
SMALL = {"model": "llama-3.1-8b", "gpu": "h100-sxm", "isl": 64, "osl": 8, "concurrency": 2}


class Predict(unittest.TestCase):
    def test_a_dict_a_link_and_names_answer_alike(self):
        by_name = rooflight.predict(**SMALL)
        self.assertGreater(by_name["report"]["headline"]["ttft"], 0)
        self.assertEqual(by_name, rooflight.predict(SMALL))
        self.assertEqual(by_name, rooflight.predict(by_name["link"]))

    def test_a_list_keeps_its_order(self):
        answers = rooflight.predict([{"concurrency": 1}, {"model": "nope"}, {"concurrency": 4}], **{"osl": 4}, roofline=True)
        self.assertEqual([answer["report"] is None for answer in answers], [False, True, False])
        self.assertIn("c=4", answers[2]["link"])

    def test_a_list_never_gets_shorter(self):
        for empty in ("", "  "):
            for ask in (rooflight.predict, rooflight.plan):
                with self.assertRaisesRegex(ValueError, "item 2 of 3 is empty"):
                    ask(["v=1", empty, "v=1&c=3"], roofline=True)
        with mock.patch("rooflight._questions.run", return_value=SimpleNamespace(stdout="{}\n")):
            with self.assertRaisesRegex(rooflight.Failed, "1 answers to 2 lines"):
                rooflight.predict(["v=1", "v=1&c=3"])

    def test_only_line_feeds_end_a_line(self):
        answers = rooflight.predict(["v=1\u2028foo\u0085", "v=1&c=3"], roofline=True)
        self.assertEqual([answer["link"] for answer in answers], ["v=1", "v=1&c=3"])

    def test_numbers_of_numpy_are_numbers(self):
        four = SimpleNamespace(item=lambda: 4)
        self.assertEqual(rooflight.predict(concurrency=four, roofline=True)["link"], "v=1&c=4")
        with self.assertRaises(TypeError):
            rooflight.predict(concurrency=object())

    def test_a_command_is_a_scenario(self):
        answer = rooflight.predict("vllm serve meta-llama/Llama-3.1-8B-Instruct \\\n  --max-num-seqs 64", roofline=True)
        self.assertEqual(answer["link"], "v=1&ms=64")

    def test_a_text_of_several_lines_is_read_as_it_is(self):
        command = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 64 &\nvllm bench serve --max-concurrency 4\n"
        manifest = "services:\n  llm:\n    image: vllm/vllm-openai\n    command:\n      - --model=meta-llama/Llama-3.1-8B-Instruct\n"
        links = ["v=1&osl=128&c=4&ms=64", "v=1"]
        self.assertEqual([rooflight.predict(one, roofline=True)["link"] for one in (command, manifest)], links)
        self.assertEqual([one["link"] for one in rooflight.predict([command, manifest], roofline=True)], links)

    def test_what_is_wrong_is_named(self):
        with self.assertRaises(rooflight.BadInput) as caught:
            rooflight.predict(model="nope")
        self.assertEqual(caught.exception.answer["issues"][0]["field"], "model")
        for scenario, inputs in (("v=1", {"tp": 2}), ("{not json", {})):
            with self.assertRaises(rooflight.BadInput):
                rooflight.predict(scenario, **inputs)

    def test_limits_that_break_are_listed(self):
        kept, broken = (rooflight.predict(SMALL, limits={"ttft_p99": most})["broken"] for most in (1e6, 0.001))
        self.assertEqual(kept, [])
        self.assertRegex(broken[0], "^limit: ttft_p99 is ")
        with self.assertRaises(rooflight.BadInput):
            rooflight.predict(SMALL, limits={"nope": 1})


class Others(unittest.TestCase):
    def test_plan(self):
        request = {**SMALL, "slo_ttft": 2000, "slo_tpot": 100, "vary": {"gpu": ["h100-sxm"]}, "tp": 1, "engine": "vllm"}
        del request["gpu"]
        best = rooflight.plan(request, roofline=True)["plans"][0]
        self.assertEqual((best["gpu"], best["gpus"]), ("h100-sxm", 1))
        with self.assertRaises(rooflight.BadInput):
            rooflight.plan({**request, "slo_ttft": 0.0001}, roofline=True)

    def test_a_request_without_a_plan_says_why(self):
        with self.assertRaisesRegex(rooflight.BadInput, "^model: .*nope") as caught:
            rooflight.plan(model="nope")
        self.assertEqual(caught.exception.answer["plans"], [])
        for requests in ({}, [{}]):
            with self.assertRaisesRegex(rooflight.BadInput, "--threads"):
                rooflight.plan(requests, threads="x")

    def test_evaluate(self):
        self.assertIsNotNone(rooflight.evaluate("contributed", ROOT / "runs", models=None, responses=False))
        for what in ("nope", "evidence"):
            with self.assertRaisesRegex(rooflight.BadInput, what):
                rooflight.evaluate(what)
        with self.assertRaises(rooflight.Failed):
            rooflight.evaluate("contributed", "no such file")

    def test_contributed_runs_with_errors_are_described(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "run.json").write_text(json.dumps({"runs": []}))
            with self.assertRaisesRegex(rooflight.BadInput, "errors in contributed runs") as caught:
                rooflight.evaluate("contributed", folder)
        self.assertIn("schema", caught.exception.answer["findings"][0]["text"])

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed: examples/README.md says how")
    def test_frame(self):
        frame = rooflight.frame([{"concurrency": 1}, {"concurrency": 4}, {"tp": 3}], osl=4, roofline=True)
        self.assertEqual(len(frame), 3)
        self.assertLess(frame.output_per_s[0], frame.output_per_s[1])
        self.assertIn("tp", frame.issues[2])
        with self.assertRaisesRegex(ValueError, "item 1 of 2 is empty"):
            rooflight.frame(["", "v=1"])

    def test_a_missing_program_is_named(self):
        with self.assertRaises(rooflight.BadInput):
            rooflight.program("rm")

    def test_a_chosen_folder_is_the_only_one(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, ROOFLIGHT_BIN=folder):
            with self.assertRaisesRegex(rooflight.Failed, "ROOFLIGHT_BIN"):
                rooflight.program("predict")

    def test_the_command(self):
        run = lambda *words: subprocess.run([sys.executable, "-m", "rooflight", *words], capture_output=True, text=True)
        self.assertRegex(run("predict", "--version").stdout, r"^\S+ \d+\.\d+")
        self.assertIn("predict|plan|evaluate", run("nope").stderr)

    @unittest.skipUnless(find_spec("nbclient") and find_spec("pandas"), "Jupyter is not installed: examples/README.md says how")
    def test_the_notebook_runs(self):
        import nbclient
        import nbformat

        notebook = nbformat.read(ROOT / "examples/jupyter/sizing.ipynb", as_version=4)
        self.assertFalse(any(cell.get("outputs") for cell in notebook.cells))
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
        printed = "".join(str(output) for cell in notebook.cells for output in cell.get("outputs", []))
        self.assertIn("ttft_p99_ms", printed)
        self.assertIn("<iframe", printed)
