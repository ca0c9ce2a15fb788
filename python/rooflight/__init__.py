"""Predicts how fast LLMs are served: TTFT, TPOT and throughput.

    >>> import rooflight
    >>> answer = rooflight.predict(model="qwen3-32b", gpu="h200-sxm", tp=2, concurrency=32)
    >>> answer["report"]["headline"]["ttft"]  # seconds

Functions start the programs `predict`, `plan` and `evaluate`, which ship with the package: their answers are those of the command
line, in SI units. docs/python.md describes them.
"""

from rooflight._programs import BadInput, Failed, program
from rooflight._questions import evaluate, frame, plan, predict

__all__ = ["BadInput", "Failed", "evaluate", "frame", "plan", "predict", "program"]
