"""The pictures in the texts of Lab 1A, drawn from what the oracles count."""

from __future__ import annotations

from autograder.labs.lab1a.torch_layer import decoder_layer
from lab_utils.instruments.counting import Tally, added_up
from lab_utils.instruments.roofline import A100, H100, item_bytes
from lab_utils.instruments.roofline.chart import Dot, Roof, draw_roofline
from lab_utils.instruments.shapes import LLAMA_7B, Transformer
from lab_utils.kit.charts.colors import BLUE, ORANGE
from lab_utils.kit.charts.svg import document, line, rectangle, text


def pictures() -> dict[str, str]:
    """SVG by file name."""
    return {"dot_product.svg": _dot_product(4), "roofline.svg": _roofline()}


def _dot_product(length: int) -> str:
    """A dot product as a tree: a box for each number, a circle for each operation."""
    tally = Tally()
    a, b = tally.array("a", length), tally.array("b", length)
    added_up(x * y for x, y in zip(a, b, strict=True))
    step, side, left = 92, 30, 40
    body = []
    total = (left + 30.0, 190.0)
    for place in range(length):
        x = left + place * step
        for column, name in ((0, "a"), (34, "b")):
            body.append(rectangle(x + column, 20, side, side, fill="none", stroke="currentColor"))
            middle = x + column + side / 2
            body.append(text(middle, 39, f"{name}{place + 1}", text_anchor="middle"))
            body.append(line(middle, 50, x + 32, 84, stroke_opacity=0.6))
        body.append(_circle(x + 32, 96, "×", BLUE))
        if place:
            body.append(line(x + 32, 108, x + 32, 148, stroke_opacity=0.6))
            body.append(line(total[0], total[1], x + 20, 160, stroke_opacity=0.6))
            body.append(_circle(x + 32, 160, "+", ORANGE))
            total = (x + 44, 160)
        else:
            body.append(line(x + 32, 108, x + 32, 160, stroke_opacity=0.6))
            total = (x + 32, 160)
    right = left + length * step
    body.append(line(*total, right + 6, 160, stroke_opacity=0.6))
    body.append(rectangle(right + 6, 145, side, side, fill="none", stroke="currentColor"))
    body.append(text(right + 6 + side / 2, 164, "c", text_anchor="middle"))
    products, sums = tally.counts["mul"], tally.counts["add"]
    words = f"{products} multiplications, {sums} additions: {tally.operations()} operations"
    body.append(text(left, 210, f"{words}", font_weight="bold"))
    label = f"A dot product of two vectors of {length} as a tree: {words}"
    return document(right + 80, 228, label, body, alone=True)


def _circle(x: float, y: float, sign: str, colour: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="12" fill="{colour}"/>' + text(
        x, y + 5, sign, text_anchor="middle", fill="white", font_size=15
    )


def dots_of(model: Transformer, batch: int, new: int, past: int, dtype: str) -> list[Dot]:
    """The products of a layer, by PyTorch's count."""
    layer = decoder_layer(model, batch, new, past)
    item = item_bytes(dtype)
    return [Dot(n, flops / (item * layer.elements[n])) for n, flops in layer.flops.items()]


def _roofline() -> str:
    """Decode on the slope, prefill on the flat part, of one and the same layer."""
    few = {"q": "weights", "scores": "attention"}
    dots = [
        Dot(f"{few[dot.name]} in {phase}", dot.intensity)
        for phase, arguments in (("prefill", (1, 2048, 0)), ("decode", (1, 1, 2047)))
        for dot in dots_of(LLAMA_7B, *arguments, "bf16")
        if dot.name in few
    ]
    return draw_roofline([Roof(A100, "bf16"), Roof(H100, "bf16")], dots).svg
