"""What one asks: predictions, plans, error tables."""

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
    `broken` of the limits it does not keep.
    """
    options = _options(roofline, sweep, measured, models)
    if isinstance(scenario, (list, tuple)):
        if limits:
            raise BadInput("limits are of one scenario")
        lines = "".join(_line(one, inputs) + "\n" for one in scenario)
        printed = run("predict", ["--jsonl", *options], lines, accepted=(0, 2)).stdout
        return [json.loads(line) for line in printed.splitlines()]
    for name, most in (limits or {}).items():
        options += ["--limit", f"{name}={most}"]
    outcome = run("predict", [*options, "-"], _text(scenario, inputs), accepted=(0, 2, 3))
    if not outcome.stdout.strip():
        raise BadInput(outcome.stderr.strip())
    answer = json.loads(outcome.stdout)
    if answer["report"] is None:
        errors = (issue for issue in answer["issues"] if issue["severity"] == "error")
        texts = [f"{issue['field']}: {issue['text']}" for issue in errors]
        raise BadInput("; ".join(texts) or "the scenario has no answer", answer)
    if limits:
        answer["broken"] = [line for line in outcome.stderr.splitlines() if line.startswith("limit: ")]
    return answer


def plan(request=None, /, *, roofline=False, models=None, threads=None, **inputs):
    """The plans for a request: a dict in the form of docs/plan.md, or its parts by name. A list of requests gives a list.

    Raises `BadInput` where a single request is wrong or nothing keeps its limits.
    """
    options = _options(roofline, False, None, models) + (["--threads", str(threads)] if threads else [])
    several = isinstance(request, (list, tuple))
    lines = "".join(_line(one, inputs) + "\n" for one in (request if several else [request]))
    answers = [json.loads(line) for line in run("plan", ["--jsonl", *options], lines, (0, 2)).stdout.splitlines()]
    if several:
        return answers
    if not answers or not answers[0].get("plans"):
        raise BadInput("the request has no plan", answers[0] if answers else None)
    return answers[0]


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
    lines = "".join(_line(one, inputs) + "\n" for one in scenarios)
    printed = run("predict", ["--jsonl", "--format", "csv", *options], lines, accepted=(0, 2)).stdout
    return pandas.read_csv(io.StringIO(printed))


def evaluate(what, *paths, **options):
    """The error tables of `evaluate`: `evaluate("serving", cases=["cases.jsonl"])`, `evaluate("contributed", "runs")`.

    Options are those of the program: a list repeats one, True sets one.
    """
    arguments = [what, "--json", *map(str, paths)]
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            arguments += [f"--{name.replace('_', '-')}"] + ([] if one is True else [str(one)])
    return json.loads(run("evaluate", arguments).stdout)


def _options(roofline, sweep, measured, models):
    options = [name for name, wanted in (("--roofline", roofline), ("--sweep", sweep)) if wanted]
    for name, value in (("--measured", measured), ("--models", models)):
        options += [name, str(value)] if value else []
    return options


def _line(scenario, inputs):
    """A scenario as a line of JSON Lines: a text of several lines as a string in JSON."""
    text = _text(scenario, inputs)
    return json.dumps(text) if "\n" in text else text


def _text(scenario, inputs):
    """A scenario as the programs read it."""
    if scenario is None or isinstance(scenario, dict):
        return json.dumps({**(scenario or {}), **inputs})
    if inputs:
        raise BadInput("inputs by name complete a dict, not a link or a command")
    return str(scenario).strip()

