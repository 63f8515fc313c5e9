"""The four operators of notebook 1, written down literally, and run on numbers that count.

No formula stands here. A definition is run on small shapes; since a cost is a polynomial in the
lengths (no loop depends on a value), a few of them determine it for every shape.

Beside the right definitions stand wrong ones, as students think of them: what they would count
is the answer by which a mistake is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from lab_utils.instruments.counting import Number, Tally, added_up, exp, sqrt


class Cost(NamedTuple):
    """What a definition took: elements of input, weight and output; light and heavy operations."""

    input: int
    weight: int
    output: int
    light: int
    heavy: int

    @property
    def elements(self) -> list[int]:
        """Of input, weight and output."""
        return [self.input, self.weight, self.output]

    def operations(self, w: int) -> int:
        """All of them; a heavy one counts as ``w``."""
        return self.light + w * self.heavy


Definition = Callable[..., Any]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Products, added up."""
    return added_up(x * y for x, y in zip(a, b, strict=True))


def product(a: Any, b: Any) -> Any:
    """The matrix product of lists of rows."""
    return [[dot(row, column) for column in zip(*b, strict=True)] for row in a]


def soft(row: Sequence[Any]) -> list[Any]:
    """Softmax of one vector, without subtracting its largest number."""
    powers = [exp(x) for x in row]
    total = added_up(powers)
    return [p / total for p in powers]


def normed(row: Sequence[Any]) -> list[Any]:
    """A vector with mean 0 and standard deviation 1."""
    mean = added_up(row) / len(row)
    centred = [x - mean for x in row]
    variance = added_up(c * c for c in centred) / len(row)
    deviation = sqrt(variance)
    return [c / deviation for c in centred]


def softmax(tally: Tally, B: int, L: int) -> Any:
    """Over the last dimension of [B, L]."""
    return [soft(row) for row in tally.array("input", B, L)]


def layernorm(tally: Tally, B: int, X: int, Y: int) -> Any:
    """Over the last dimension of [B, X, Y]."""
    return [[normed(row) for row in rows] for rows in tally.array("input", B, X, Y)]


def gemm(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """[B, M, K] times one weight [K, N]."""
    weight = tally.array("weight", K, N)
    return [product(a, weight) for a in tally.array("input", B, M, K)]


def attention(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """One head with its three projections: [B, M, K] becomes [B, M, N]."""
    query, key, value = tally.array("weight", 3, K, N)
    root = sqrt(tally.array("constant", 1)[0])
    made = []
    for x in tally.array("input", B, M, K):
        q, k, v = (product(x, each) for each in (query, key, value))
        scores = [[dot(a, b) / root for b in k] for a in q]
        made.append(product([soft(row) for row in scores], v))
    return made


RIGHT: dict[str, Definition] = {
    "softmax": softmax,
    "layernorm": layernorm,
    "gemm": gemm,
    "attention": attention,
}


@cache
def run(definition: Definition, dims: tuple[int, ...]) -> Cost:
    """What one run counts; feasible for small shapes."""
    tally = Tally()
    made = definition(tally, *dims)
    return Cost(tally.read("input"), tally.read("weight"), _leaves(made), tally.light, tally.heavy)


def _leaves(made: Any) -> int:
    return sum(map(_leaves, made)) if isinstance(made, list) else 1


def cost(definition: Definition, dims: Sequence[int]) -> Cost:
    """What the definition would count on any shape, from runs on lengths of 2, 3 and 4."""
    values = _extended(lambda *at: run(definition, at), tuple(dims))
    assert all(value.denominator == 1 for value in values)
    return Cost(*(int(value) for value in values))


_POINTS = (2, 3, 4)  # enough for squares: no length occurs in a higher power


def _extended(f: Callable[..., Sequence[Any]], dims: tuple[int, ...]) -> list[Fraction]:
    """``f(*dims)`` by Lagrange's polynomials, one dimension after the other."""
    if not dims:
        return [Fraction(value) for value in f()]
    first, *rest = dims
    total: list[Fraction] = []
    for point in _POINTS:
        share = Fraction(1)
        for other in _POINTS:
            if other != point:
                share *= Fraction(first - other, point - other)
        values = _extended(lambda *more, p=point: f(p, *more), tuple(rest))
        total = [
            a + share * b for a, b in zip(total or [Fraction(0)] * len(values), values, strict=True)
        ]
    return total


# What students think of instead.


def _from_zero(numbers: Any) -> Any:
    """A sum as a loop writes it: 0, then one addition for each number."""
    total: Any = 0
    for number in numbers:
        total = total + number
    return total


def gemm_from_zero(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """As many additions as products."""
    weight = tally.array("weight", K, N)
    columns = list(zip(*weight, strict=True))
    return [
        [[_from_zero(x * y for x, y in zip(row, c, strict=True)) for c in columns] for row in a]
        for a in tally.array("input", B, M, K)
    ]


def gemm_products(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """Only the multiplications."""
    weight = tally.array("weight", K, N)
    for a in tally.array("input", B, M, K):
        for row in a:
            for column in zip(*weight, strict=True):
                for x, y in zip(row, column, strict=True):
                    _ = x * y
    return []


def gemm_swapped(tally: Tally, B: int, M: int, K: int, N: int) -> Any:
    """The dimensions read as [B, M, K, N]."""
    return gemm(tally, B, M, N, K)


def gemm_own_weights(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """Every item of the batch with a weight of its own."""
    weights = tally.array("weight", B, K, N)
    return [product(a, b) for a, b in zip(tally.array("input", B, M, K), weights, strict=True)]


def one_item(definition: Definition) -> Definition:
    """The batch forgotten."""

    def alone(tally: Tally, _B: int, *dims: int) -> Any:
        return definition(tally, 1, *dims)

    return cache_key(alone, "one item", definition)


def cache_key(made: Definition, name: str, of: Definition) -> Definition:
    """A readable name for a definition that is made of another."""
    made.__name__ = made.__qualname__ = f"{name} of {of.__name__}"
    return made


def soft_twice(row: Sequence[Any]) -> list[Any]:
    """Each exponential computed for the sum, and again for the quotient."""
    total = added_up(exp(x) for x in row)
    return [exp(x) / total for x in row]


def soft_from_zero(row: Sequence[Any]) -> list[Any]:
    """One addition too many."""
    powers = [exp(x) for x in row]
    total = _from_zero(powers)
    return [p / total for p in powers]


def soft_no_sum(row: Sequence[Any]) -> list[Any]:
    """The additions forgotten."""
    powers = [exp(x) for x in row]
    return [p / powers[0] for p in powers]


def soft_safe(row: Sequence[Any]) -> list[Any]:
    """The largest number subtracted first."""
    return soft([x - row[0] for x in row])


def soft_one_division(row: Sequence[Any]) -> list[Any]:
    """One reciprocal, and products with it."""
    powers = [exp(x) for x in row]
    share = 1 / added_up(powers)
    return [p * share for p in powers]


def softmax_by(each: Callable[[Sequence[Any]], Any]) -> Definition:
    """Softmax with another idea of what one vector takes."""

    def made(tally: Tally, B: int, L: int) -> Any:
        return [each(row) for row in tally.array("input", B, L)]

    return cache_key(made, "softmax", each)


def norm_centred_again(row: Sequence[Any]) -> list[Any]:
    """x - mean shared inside the square, and computed again for the quotient."""
    mean = added_up(row) / len(row)
    variance = added_up(c * c for c in (x - mean for x in row)) / len(row)
    deviation = sqrt(variance)
    return [(x - mean) / deviation for x in row]


def norm_one_more(row: Sequence[Any]) -> list[Any]:
    """The squares added to a zero."""
    mean = added_up(row) / len(row)
    centred = [x - mean for x in row]
    deviation = sqrt(_from_zero(c * c for c in centred) / len(row))
    return [c / deviation for c in centred]


def norm_from_zero(row: Sequence[Any]) -> list[Any]:
    """Both sums begin with a zero."""
    mean = _from_zero(row) / len(row)
    centred = [x - mean for x in row]
    deviation = sqrt(_from_zero(c * c for c in centred) / len(row))
    return [c / deviation for c in centred]


def norm_no_squares(row: Sequence[Any]) -> list[Any]:
    """The sum of the squares forgotten."""
    mean = added_up(row) / len(row)
    centred = [x - mean for x in row]
    squares = [c * c for c in centred]
    deviation = sqrt(squares[0] / len(row))
    return [c / deviation for c in centred]


def norm_no_root(row: Sequence[Any]) -> list[Any]:
    """The square root forgotten."""
    mean = added_up(row) / len(row)
    centred = [x - mean for x in row]
    variance = added_up(c * c for c in centred) / len(row)
    return [c / variance for c in centred]


def norm_root_each(row: Sequence[Any]) -> list[Any]:
    """A square root for every element."""
    mean = added_up(row) / len(row)
    centred = [x - mean for x in row]
    variance = added_up(c * c for c in centred) / len(row)
    return [c / sqrt(variance) for c in centred]


def layernorm_by(each: Callable[[Sequence[Any]], Any]) -> Definition:
    """LayerNorm with another idea of what one vector takes."""

    def made(tally: Tally, B: int, X: int, Y: int) -> Any:
        return [[each(row) for row in rows] for rows in tally.array("input", B, X, Y)]

    return cache_key(made, "layernorm", each)


def layernorm_affine(tally: Tally, B: int, X: int, Y: int) -> Any:
    """With a scale and a shift, as torch.nn.LayerNorm has them by itself."""
    scale, shift = tally.array("weight", 2, Y)
    return [
        [[n * a + b for n, a, b in zip(normed(row), scale, shift, strict=True)] for row in rows]
        for rows in tally.array("input", B, X, Y)
    ]


def attention_by(
    scale: str = "each", soft_rows: str = "all", projections: int = 3, each: Any = soft
) -> Definition:
    """Attention with one step thought of otherwise."""

    def made(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
        query, key, value = tally.array("weight", 3, K, N)
        constant = tally.array("constant", 1)[0]
        root = sqrt(constant) if scale in ("each", "once") else constant
        result = []
        for item, x in enumerate(tally.array("input", B, M, K)):
            q = product(x, query)
            k, v = (product(x, w) for w in (key, value)) if projections == 3 else (q, q)
            scores = [[dot(a, b) for b in k] for a in q]
            if scale == "each":
                scores = [[s / root for s in row] for row in scores]
            elif scale == "roots":
                scores = [[s / sqrt(root) for s in row] for row in scores]
            if soft_rows == "all" or (soft_rows == "first item" and item == 0):
                scores = [each(row) for row in scores]
            elif soft_rows == "first row":
                scores = [each(scores[0]), *scores[1:]]
            result.append(product(scores, v))
        return result

    made.__name__ = f"attention {scale} {soft_rows} {projections} {each.__name__}"
    return made


def attention_from_zero(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """In every product as many additions as multiplications."""
    made = attention(tally, B, M, N, K)
    zero = Number(0.0, tally)
    for _ in range(B * (3 * M * N + M * M + M * N)):
        _ = zero + 0
    return made


def attention_swapped(tally: Tally, B: int, M: int, K: int, N: int) -> Any:
    """The dimensions read as [B, M, K, N]."""
    return attention(tally, B, M, N, K)


def attention_own_weights(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """Every item of the batch with weights of its own."""
    made: list[Any] = []
    for x, weights in zip(
        tally.array("input", B, M, K), tally.array("weight", B, 3, K, N), strict=True
    ):
        q, k, v = (product(x, each) for each in weights)
        made.append(product([soft([dot(a, b) for b in k]) for a in q], v))
    return made


def attention_qkv_moved(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """Queries, keys and values counted as output too."""
    return [attention(tally, B, M, N, K), [[[[0] * N] * M] * B] * 3]


def attention_one_weight(tally: Tally, B: int, M: int, N: int, K: int) -> Any:
    """One weight where there are three."""
    return gemm(tally, B, M, N, K)
