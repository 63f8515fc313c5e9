"""What grading a lab about graphs takes."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.sandbox.host.cut import Cut

PRELOAD = (
    "torch",
    "torch.fx",
    "torch.fx.experimental.proxy_tensor",
    "torch._dynamo",  # 800 modules, which the first graph that is read would load
    "lab_utils.labs.graphs",
)

_STAND_INS = Path(__file__).with_name("stand_ins")
#: Tracing notes phases and kinds; the graphs that we ship are found again.
WITHOUT_TRACING = Cut(
    frozenset({f"steps/trace/{name}.py" for name in ("naming", "recorder", "tidy", "updates")}),
    (_STAND_INS / "traced",),
)
#: Bytes held at each step, and all pictures of them.
WITHOUT_MEMORY = Cut(
    frozenset({"steps/memory.py", "steps/summary.py", "steps/draw"}), (_STAND_INS / "drawn",)
)
