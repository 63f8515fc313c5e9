"""The modules on which Lab 3A is tried, public and hidden, as one writes them."""

from __future__ import annotations

import operator

import torch
from torch import nn
from torch.nn import functional as F

from lab_utils.labs.lab3a.layers import Ticket

T = torch.Tensor


class Scaled(nn.Module):
    """Two parameters are multiplied in, then a linear layer: as in the course."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(2, 3))
        self.linear = nn.Linear(3, 2)

    def forward(self, x: T) -> T:
        return torch.relu(self.linear(torch.mul(torch.mul(x, self.first), self.second)))


class FourProducts(nn.Module):
    """Only one of four products is torch.mul."""

    def forward(self, x: T, y: T) -> T:
        return torch.mul(x, y) + x * y + x.mul(y) + torch.matmul(x, y)


class OddNames(nn.Module):
    """One product to change; the names of other nodes say that they are products too."""

    def forward(self, x: T, mul: T) -> T:
        return operator.mul(x, mul) - torch.mul(mul, x).sub(mul)


class Block(nn.Module):
    """A product inside a module."""

    def forward(self, x: T, y: T) -> T:
        return torch.mul(x + 1, y)


class WithBlock(nn.Module):
    """A module in a module, which a tracer may leave whole."""

    def __init__(self) -> None:
        super().__init__()
        self.whole = Block()

    def forward(self, x: T, y: T) -> T:
        return torch.mul(self.whole(x, y), x)


class NamedBlock(WithBlock):
    """Arguments by name, a product that two read, one of a number."""

    def forward(self, x: T, y: T) -> T:
        product = torch.mul(input=self.whole(x, y), other=y)
        return torch.mul(product, 4) + product.mul(x) * y


class InPlaceBlock(WithBlock):
    """A product that is put into its first factor stays."""

    def forward(self, x: T, y: T) -> T:
        z = torch.mul(x, 2)
        z.mul_(self.whole(y, x))
        return torch.sub(z, torch.mul(y, z))


class TwoBlocks(WithBlock):
    """The block twice, and a linear layer behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: T, y: T) -> T:
        return self.linear(torch.mul(self.whole(x, y), self.whole(y, x)).mul(x)) * y


class Holder(nn.Module):
    """Holds a tensor, so that its path has a dot."""

    def __init__(self, tensor: T) -> None:
        super().__init__()
        self.held = nn.Parameter(tensor, requires_grad=False)


# For NodeProp


class Small(nn.Module):
    """The smallest thing with a module, a function and a method."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x: T) -> T:
        return torch.add(self.linear(x), 1).reshape(4, 2)


class Cut(nn.Module):
    """Slices with nodes in them, a size, a parameter with a dot in its path."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Holder(torch.arange(12.0).reshape(4, 3))

    def forward(self, x: T) -> T:
        rows, size = x.size(0), x.size()
        return torch.add(x, self.inner.held[:rows, 1 : size[1] + 1]) - rows


class Parts(nn.Module):
    """A tuple in the middle, nested arguments, arguments by name."""

    def forward(self, x: T) -> T:
        first, second = x.split(2, dim=1)
        joined = torch.cat([second, first, torch.stack((first, second)).sum(dim=0)], dim=-1)
        return torch.flatten(joined, start_dim=0)


class Changes(nn.Module):
    """Something is added in place, and a ticket is drawn: whoever runs it again is told so."""

    def __init__(self) -> None:
        super().__init__()
        self.ticket = Ticket()

    def forward(self, x: T) -> T:
        y = torch.mul(x, 3)
        z = self.ticket(y)
        y.add_(z)
        return torch.sub(y, z)


class Attend(nn.Module):
    """Attention with one head: a mask cut to length, methods, a division in place."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(4, 12)
        self.inner = Holder(torch.ones(8, 8).triu(1))

    def forward(self, x: T) -> T:
        tokens = x.shape[1]
        queries, keys, values = self.qkv(x).chunk(3, dim=-1)
        scores = queries @ keys.transpose(-2, -1)
        scores.div_(2)
        scores = scores - 100 * self.inner.held[None, :tokens, :tokens]
        return F.softmax(scores, dim=-1).matmul(values)


class Sizes(nn.Module):
    """Values that are no tensors: sizes, whole numbers, sums of tuples."""

    def forward(self, x: T, y: T) -> T:
        size = x.shape
        rows = y.size(0) // 2
        wide = x.view(size[0] * size[1])
        return wide[rows:].reshape(-1, 1) + y[..., :rows, None].amax()


class WordsInPlace(nn.Module):
    """Words become vectors; a module that changes its input; a tuple that is given back."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.ModuleDict({"words": nn.Embedding(7, 3), "act": nn.ReLU(inplace=True)})
        self.dropout, self.norm = nn.Dropout(0.5), nn.LayerNorm(3)

    def forward(self, tokens: T) -> tuple[T, dict[str, T]]:
        x = torch.sub(self.inner["words"](tokens), 1)
        y = self.inner["act"](x.view(x.size()))
        return self.norm(self.dropout(y)), {"kept": x, "twice": torch.add(input=x, other=y)}


class Written(nn.Module):
    """A part of a tensor is written to; a type is changed; a ticket in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.ticket, self.linear = Ticket(), nn.Linear(4, 2, bias=False)
        self.inner = Holder(torch.ones(4))

    def forward(self, x: T, at: T) -> T:
        y = x.clone()
        y.index_add_(0, at, self.ticket(x)[: at.size(0)])
        y.mul_(2)
        left, right = y.chunk(2, dim=1)
        y = torch.cat((right, left), dim=1)
        return self.linear(torch.add(y, self.inner.held).to(dtype=torch.float32))


class Branches(nn.Module):
    """One value that many read, two halves that are stacked, one value that nobody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.gelu = nn.Linear(2, 6), nn.GELU("tanh")
        self.inner = Holder(torch.ones(6))

    def forward(self, x: T) -> T:
        hidden = self.up(x) - self.inner.held
        hidden.sum()
        left, right = hidden.split(3, dim=1)
        both = torch.stack([left[:, ::2], right[:, 1:]], dim=1)
        return self.gelu(both).permute(1, 0, 2).contiguous().exp_()
