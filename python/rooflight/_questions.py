"""Predictions, plans and error tables."""

import io
import json

from rooflight._programs import BadInput, Failed, run


def predict(scenario=None, /, *, roofline=False, sweep=False, measured=None, models=None, limits=None, **inputs):
    """The answer to a scenario: `link`, `issues` and `report`, in SI units.

    `scenario` is a link, a dict of inputs, the command that starts an engine, or a list of any of these, whose answers are a list
    in the same order; one without an answer has `report` None there, and raises `BadInput` when asked alone. `inputs` are
    added to each dict: `predict(model="qwen3-32b", tp=2)`.

    `roofline` takes kernels at their ideal time, `sweep` adds lower and higher loads, `measured` names a file of runs to
    calibrate on, `models` a folder of models. `limits` ({"ttft_p99": 1000}, milliseconds) adds to a single answer the list
    `broken` of the limits it does not meet.
    """
    options = _options(roofline, sweep, measured, models)
    if isinstance(scenario, (list, tuple)):
        if limits:
            raise BadInput("limits are of one scenario")
        return _in_order("predict", options, scenario, inputs, _json_lines)
    for name, most in (limits or {}).items():
        options += ["--limit", f"{name}={most}"]
    outcome = run("predict", [*options, "-"], _text(scenario, inputs), accepted=(2, 3))
    answer = json.loads(outcome.stdout)
    if answer["report"] is None:
        raise BadInput(_errors(answer) or "the scenario has no answer", answer)
    if limits:
        answer["broken"] = [line for line in outcome.stderr.split("\n") if line.startswith("limit: ")]
    return answer


def plan(request=None, /, *, roofline=False, models=None, threads=None, **inputs):
    """The plans for a request: a dict in the form of docs/plan.md, or its parts by name. A list of requests gives a list.

    Raises `BadInput` if a single request is wrong or no plan meets its limits.
    """
    options = _options(roofline, False, None, models) + (["--threads", str(threads)] if threads else [])
    several = isinstance(request, (list, tuple))
    answers = _in_order("plan", options, request if several else [request], inputs, _json_lines)
    if several:
        return answers
    answer = answers[0]
    if not answer["plans"]:
        raise BadInput(_errors(answer) or "the request has no plan", answer)
    return answer


def frame(scenarios, /, *, roofline=False, measured=None, models=None, **inputs):
    """A pandas DataFrame with a row for each scenario: its link, every figure with its band, and issues. Columns are those of
    `predict --format csv`, with their units."""
    try:
        import pandas
    except ImportError as missing:
        raise Failed("frame needs pandas: pip install pandas") from missing
    if isinstance(scenarios, (str, dict)):
        scenarios = [scenarios]
    options = _options(roofline, False, measured, models)
    read = lambda printed: pandas.read_csv(io.StringIO(printed))
    return _in_order("predict", ["--format", "csv", *options], scenarios, inputs, read)


def evaluate(what, *paths, **options):
    """The error tables of `evaluate`: `evaluate("serving", cases=["cases.jsonl"])`, `evaluate("contributed", "runs")`.

    Options are those of the program: a list repeats one, True sets one, None and False leave it out. Raises `BadInput` if
    contributed runs have errors: `answer["findings"]` lists them. `evidence` is refused because it writes a file instead of
    printing tables.
    """
    if what == "evidence":
        raise BadInput("`evidence` writes evidence.json and prints no tables: run `rooflight evaluate evidence`")
    arguments = [what, "--json", *map(str, paths)]
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                arguments += [f"--{name.replace('_', '-')}"] + ([] if one is True else [str(one)])
    outcome = run("evaluate", arguments, accepted=(1,))
    said = outcome.stderr.strip()
    try:
        answer = json.loads(outcome.stdout)
    except ValueError:
        raise Failed(said or "evaluate printed no JSON") from None
    if outcome.returncode:
        raise BadInput(said, answer)
    return answer


def _options(roofline, sweep, measured, models):
    options = [name for name, wanted in (("--roofline", roofline), ("--sweep", sweep)) if wanted]
    for name, value in (("--measured", measured), ("--models", models)):
        options += [name, str(value)] if value else []
    return options


def _in_order(name, options, scenarios, inputs, read):
    """One answer for each scenario, in the same order. `read` takes what the program printed."""
    lines = [_line(one, inputs) for one in scenarios]
    # The programs skip empty lines, which would shift all later answers.
    if "" in lines:
        raise BadInput(f"item {lines.index('') + 1} of {len(lines)} is empty")
    printed = run(name, ["--jsonl", *options], "".join(f"{line}\n" for line in lines), accepted=(2,)).stdout
    answers = read(printed)
    if len(answers) != len(lines):
        raise Failed(f"{name} gave {len(answers)} answers to {len(lines)} lines")
    return answers


def _json_lines(printed):
    """Not by `splitlines`: JSON may contain the other characters that it splits at, such as U+2028."""
    return [json.loads(line) for line in printed.split("\n") if line]


def _errors(answer):
    """The texts of an answer's errors."""
    return "; ".join(f"{issue['field']}: {issue['text']}" for issue in answer["issues"] if issue["severity"] == "error")


def _line(scenario, inputs):
    """A scenario as a line of JSON Lines. Links must be bare: only a command or manifest may be a string in JSON."""
    text = _text(scenario, inputs)
    # In JSON a line break is a space.
    return text.replace("\n", " ") if text.startswith("{") or "\n" not in text else json.dumps(text)


def _text(scenario, inputs):
    """A scenario as the programs read it."""
    if scenario is None or isinstance(scenario, dict):
        return json.dumps({**(scenario or {}), **inputs}, default=_number)
    if inputs:
        raise BadInput("inputs by name complete a dict, not a link or a command")
    return str(scenario).strip()


def _number(value):
    """The number in a numpy scalar."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is not an input: give a number, a text or a list")

