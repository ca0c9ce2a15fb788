"""Resolves how measured runs were started into plain records: `launches.json` in, `launch_plan.json` out.

`launches.json` holds what was read from launch scripts, sweeps and engines: for each script and period, fields with
conditions. The plan holds for each script a list of cases, each with the ranges it covers and every field as a plain
value, so that `evaluate` looks one case up and interprets nothing. An amount that follows the clients or the prompt is
an object: max(at_least, min(at_most, floor((clients * per_client + isl * per_prompt + plus) / step) * step)).
"""

import argparse
import json
from functools import cache
from itertools import chain, combinations, product
from pathlib import Path

HERE = Path(__file__).parent
# Dimensions whose values have no order.
LISTED = ("lengths", "gpu", "image")
# Conditions that split a range: their name, and the values at which a cell of the range begins.
STARTS = {
    "clients": {"clients_from": lambda n: [n], "clients_below": lambda n: [n]},
    "gpus": {"tp": lambda n: [n, n + 1], "tp_from": lambda n: [n], "tp_below": lambda n: [n]},
    "ep": {"ep": lambda n: [n, n + 1], "ep_from": lambda n: [n], "labelled_ep": lambda _: [2]},
    "day": {"from": lambda d: [d], "before": lambda d: [d]},
    "version": {"version_below": lambda v: [tuple(v)]},
}
# Runs without a date meet no condition on it, and so mostly get the settings of the newest: they are sorted last, and
# `evaluate` takes an unknown version to be the newest.
UNKNOWN, FIRST = "unknown", {"clients": 1, "gpus": 1, "ep": 1, "day": "1970-01-01", "version": ()}
TEXTS = ("doubts", "inferred")
EXCLUDED = {
    "disaggregated": "prefill and decode ran on servers of their own",
    "dynamo_runtime": "started by Dynamo, in a way that is not recorded",
    "server_queue": "512 open requests at a server that ran fewer, because of a client error",
}

AMOUNTS = {
    "clients": dict(per_client=1),
    "quarter_of_clients": dict(per_client=0.25),
    "eighth_of_clients": dict(per_client=0.125),
    "twice_the_prompt": dict(per_prompt=2),
    "prompt_and_1500": dict(per_prompt=1, plus=1500),
    # vLLM accepts no token budget below the number of sequences it may run.
    "clients_and_prompt": dict(per_client=1, per_prompt=1, at_least=1024),
    # genai-perf as the generator's runner starts it: per client, two prompts to warm up and ten to measure.
    "twelve_a_client": dict(per_client=12),
    "clients_1024_and_1500": dict(per_client=1, plus=2524),
    # One token per client and one prompt, with a margin, rounded up to 64 tokens.
    "rounded": dict(per_client=1, per_prompt=1, plus=127, step=64),
    "rounded_from_8192": dict(per_client=1, per_prompt=1, plus=127, step=64, at_least=8192),
}


def choices(rule):
    """A field's values with their conditions, first match first."""
    listed = isinstance(rule, list)
    return [(one.get("if", {}), one["is"]) for one in rule] if listed else [({}, rule)]


def conditions(layers):
    return [when for layer in layers for rule in layer.values() for when, _ in choices(rule)]


def expert_ranks(rule, cell):
    if rule == "gpus_if_labelled":
        return cell["gpus"] if cell["ep"] > 1 else cell["ep"]
    return {"one": 1, "gpus": cell["gpus"]}.get(rule, cell["ep"])


def holds(when, cell):
    day, version = cell["day"], cell["version"]
    tests = {
        "isl": lambda n: cell["lengths"][0] == n,
        "osl": lambda n: cell["lengths"][1] == n,
        "tp": lambda n: cell["gpus"] == n,
        "tp_from": lambda n: cell["gpus"] >= n,
        "tp_below": lambda n: cell["gpus"] < n,
        "ep": lambda n: cell["ran_ep"] == n,
        "ep_from": lambda n: cell["ran_ep"] >= n,
        "labelled_ep": lambda yes: (cell["ep"] > 1) == yes,
        "attention_dp": lambda yes: cell["ran_dp"] == yes,
        "clients_from": lambda n: cell["clients"] >= n,
        "clients_below": lambda n: cell["clients"] < n,
        "from": lambda d: day != UNKNOWN and day >= d,
        "before": lambda d: day != UNKNOWN and day < d,
        "gpus": lambda ids: cell["gpu"] in ids,
        "image": lambda part: cell["image"] == part,
        "version_below": lambda v: version < tuple(v),
    }
    return all(tests[name](value) for name, value in when.items())


def resolved(layers, cell):
    """Every field of a launch in `cell`: the first layer that says something holds, texts of all layers are kept."""

    def said(field):
        return [value for layer in layers for when, value in choices(layer.get(field, [])) if holds(when, cell)]

    def pick(field):
        return next(iter(said(field)), None)

    cell = dict(cell, ran_ep=cell["ep"], ran_dp=cell["dp"])
    attention_dp = {"on": True, "off": False}.get(pick("attention_dp"))
    cell["ran_dp"] = cell["dp"] if attention_dp is None else attention_dp
    cell["ran_ep"] = expert_ranks(pick("ep"), cell)
    fields = {}
    for field in dict.fromkeys(field for layer in layers for field in layer):
        value = said(field) if field in TEXTS else pick(field)
        if field == "attention_dp":
            value = attention_dp
        elif field == "excluded":
            value = EXCLUDED.get(value)
        elif value == "twice_the_sequences_to_512":
            value = graphs_to_512(pick("max_seqs"))
        elif isinstance(value, str):
            value = AMOUNTS.get(value, value)
        if value not in (None, []):
            fields[field] = value
    return fields


def graphs_to_512(max_seqs):
    """vLLM captures graphs up to twice the sequences it may run, and never above 512."""
    if max_seqs == "clients":
        return dict(per_client=2, at_most=512)
    return min(2 * max_seqs, 512) if max_seqs else 512


def cells(layers, lengths, gpus, images):
    """The least pieces of the whole domain in which no condition changes, by dimension."""
    whens = conditions(layers)

    def starts(dimension):
        found = {FIRST[dimension]}
        for when in whens:
            for name, begins in STARTS[dimension].items():
                found.update(begins(when[name]) if name in when else [])
        return sorted(found)

    dimensions = {name: starts(name) for name in STARTS}
    # Where a script spreads the experts over all GPUs, conditions on the number of expert ranks apply to the number of GPUs.
    dimensions["gpus"] = sorted({*dimensions["gpus"], *dimensions["ep"]})
    dimensions["day"].append(UNKNOWN)
    return dict(lengths=lengths, gpu=gpus, image=images, dp=[False, True], **dimensions)


def plan_of(layers, lengths=(None,), gpus=(None,), images=(None,)):
    """As few cases as splitting one range after the other finds, each with its ranges and fields.

    None among GPUs or images is every other: such cases stand behind those that name theirs, and the first that holds
    is meant.
    """
    dimensions = cells(layers, lengths, gpus, images)
    names = list(dimensions)
    outcome = {}
    for key in product(*(range(len(dimensions[name])) for name in names)):
        cell = {name: dimensions[name][at] for name, at in zip(names, key)}
        cell["lengths"] = cell["lengths"] or (0, 0)
        outcome[key] = json.dumps(resolved(layers, cell), sort_keys=True)

    @cache
    def split(box):
        """The cases of a box, a tuple of index tuples: (boxes and outcomes)."""
        found = {outcome[key] for key in product(*box)}
        if len(found) == 1:
            return [(box, found.pop())]
        best = None
        for at, indices in enumerate(box):
            parts = [(indices[:cut], indices[cut:]) for cut in range(1, len(indices))]
            if names[at] in LISTED:
                named = [index for index in indices if dimensions[names[at]][index] is not None]
                chosen = chain.from_iterable(combinations(named, count) for count in range(1, len(indices)))
                parts = [(left, tuple(index for index in indices if index not in left)) for left in chosen]
            for left, right in parts:
                halves = [box[:at] + (half,) + box[at + 1 :] for half in (left, right)]
                score = sum(len({outcome[key] for key in product(*half)}) for half in halves)
                if best is None or score < best[0]:
                    best = (score, halves)
        return [case for half in best[1] for case in split(half)]

    whole = tuple(tuple(range(len(dimensions[name]))) for name in names)
    return [(ranges(dict(zip(names, box)), dimensions), json.loads(fields)) for box, fields in split(whole)]


def ranges(box, dimensions):
    """The ranges of a box as the plan writes them: [first, last) and lists; what is whole is left out."""
    covered = {}
    for name, indices in box.items():
        values = dimensions[name]
        if len(indices) == len(values):
            continue
        if name in STARTS:
            first, after = values[indices[0]], values[indices[-1] + 1] if indices[-1] + 1 < len(values) else None
            covered[name] = [None if indices[0] == 0 else first, after]
        elif name == "dp":
            covered[name] = values[indices[0]]
        elif None not in (chosen := [values[index] for index in indices]):
            covered[name] = chosen
    return covered


def launches(layers, lengths=(None,), gpus=(None,), images=(None,)):
    """What all cases say alike, and the cases with the rest."""
    cases = plan_of(layers, lengths, gpus, images)
    first = cases[0][1]
    common = {name: value for name, value in first.items() if all(rest.get(name) == value for _, rest in cases)}
    rest = [
        {"when": when, **{name: value for name, value in fields.items() if name not in common}} for when, fields in cases
    ]
    return dict(launch=common, cases=rest)


def scripts(facts, common):
    for record in facts["records"]:
        labels = {name for name in record["precisions"] if name not in facts["precisions"]}
        labels |= {label for label, name in facts["precisions"].items() if name in record["precisions"]}
        for engine in record["engines"]:
            layers = [record["settings"], common, facts["defaults"][engine]]
            key = dict(models=facts["models"][record["model"]], precisions=sorted(labels), engine=engine)
            key |= {name: record[name] for name in ("gpu", "from", "until", "images", "assumed") if record.get(name)}
            yield dict(key, **launches(layers, [tuple(pair) for pair in facts["lengths"]], [record["gpu"]]))


def resolve(facts):
    common = dict(facts["inferencex"], length_range=[{"is": facts["length_range"]}])
    unrecorded, others = {}, {}
    for engine, defaults in facts["defaults"].items():
        gpus = ["b300", "gb200", "h100-sxm", "h200-sxm", None]
        unrecorded[engine] = launches([common, defaults], gpus=gpus, images=["ai-dynamo/", None])
        others[engine] = launches([facts["others_by_engine"][engine], facts["others"], defaults], gpus=gpus)
    drafts = facts["drafts"]
    text = f"{drafts['drafted']} tokens drafted, {drafts['accepted']} of them accepted"
    batches = [dict(batch, models=facts["models"][batch.pop("model")]) for batch in drafts["batches"]]
    return dict(
        source=facts["source"],
        attribution=facts["attribution"],
        lengths=facts["lengths"],
        copied_until=facts["copied_until"],
        series=facts["series"],
        drafts=dict(drafts, inferred=text, batches=batches),
        unrecorded=unrecorded,
        others=others,
        scripts=list(scripts(facts, common)),
    )


def text(plan, depth=0):
    """JSON with a line for each launch and each of its cases."""
    if depth == 0 or isinstance(plan, dict) and "cases" in plan or depth == 1 and isinstance(plan, dict):
        parts = [f"{json.dumps(name)}:{text(value, depth + 1)}" for name, value in plan.items()]
        return "{\n" + ",\n".join(parts) + "\n}"
    if isinstance(plan, list) and plan and isinstance(plan[0], dict):
        return "[\n" + ",\n".join(text(one, depth + 1) for one in plan) + "\n]"
    return json.dumps(plan, ensure_ascii=False, separators=(",", ":"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=HERE / "launch_plan.json")
    plan = resolve(json.loads((HERE / "launches.json").read_text()))
    arguments.parse_args().out.write_text(text(plan) + "\n")


if __name__ == "__main__":
    main()
