"""DOT text to nodes and edges; what the attributes mean is not asked here.

The whole DOT language for directed graphs is read: comments, joined strings, HTML
labels, ports, subgraphs, default attributes, chains and groups of edges. Braces
are kept on a stack, so that no file is too deep. ``strict`` is passed over: an
operator may well read one value twice.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from lab_utils.steps.dot.drawing import DotEdge, DotNode, Drawing, short
from lab_utils.steps.dot.limits import MAX_EDGES, MAX_NODES
from lab_utils.steps.dot.plain import read_plain
from lab_utils.steps.dot.tokens import NAMES, Token, TokenStream

MAX_STATEMENTS = 1_000_000  # each node of an edge, and each semicolon, counts as one
MAX_DEPTH = 500  # braces inside braces
MAX_DEFAULTS = 200  # attributes set by node or edge statements

_STATEMENTS = ("graph", "node", "edge")


def parse_dot(text: str, source: str) -> Drawing:
    """The nodes and edges of a digraph.

    Args:
        source: what messages call the text: a file name, or ``<text>``.

    Raises:
        DotError: the text is no digraph; the message tells the first line that is wrong.
    """
    drawing = Drawing(source, text)
    if not read_plain(drawing):
        parse_any(drawing)
    return drawing


def parse_any(drawing: Drawing) -> None:
    """Fill in a drawing from its text, whoever wrote that.

    Raises:
        DotError: the text is no digraph.
    """
    _Parser(drawing).parse()
    # An edge may mention a node before its own statement, which is where it belongs.
    drawing.nodes = dict(sorted(drawing.nodes.items(), key=lambda item: item[1].position))


class _Scope(NamedTuple):
    """What an opening brace sets aside until its brace closes."""

    chain: list[list[str]]
    node_defaults: dict[str, str]
    edge_defaults: dict[str, str]
    first_mention: int


class _Parser:
    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.tokens = TokenStream(drawing)
        self.node_defaults: dict[str, str] = {}
        self.edge_defaults: dict[str, str] = {}
        self.mentions: list[str] = []  # names of nodes, as often as they stand in the text
        self.scopes: list[_Scope] = []
        self.chain: list[list[str]] = []  # what stands left of the last ->

    def parse(self) -> None:
        self._header()
        for count in itertools.count(1):
            token = self.tokens.take()
            self._limit(count, MAX_STATEMENTS, "statements", token.position)
            if self._statement(token):
                break
        if self.tokens.following.kind != "end":
            self.tokens.expected("nothing after the digraph's closing }", self.tokens.following)

    def _header(self) -> None:
        if self.tokens.following.is_word("strict"):
            self.tokens.take()
        token = self.tokens.take()
        if token.is_word("graph"):
            raise self.drawing.error(
                "the graph is undirected: begin with digraph, and draw edges with ->",
                token.position,
            )
        if not token.is_word("digraph"):
            self.tokens.expected("digraph at the beginning", token)
        if self.tokens.following.kind in NAMES:
            self.tokens.take()
        token = self.tokens.take()
        if token.kind != "{":
            self.tokens.expected("{ after digraph", token)

    def _statement(self, token: Token) -> bool:
        """Read on to the end of a statement, or up to the next operand of an edge.

        Returns whether the digraph's closing brace was read.
        """
        if token.kind == "{":
            self._open(token)
        elif token.is_word("subgraph"):
            if self.tokens.following.kind in NAMES:
                self.tokens.take()
            if self.tokens.following.kind != "{":
                self.tokens.expected("{ after subgraph", self.tokens.following)
        elif token.kind in NAMES and not token.is_word(*_STATEMENTS):
            if self.tokens.following.kind == "=" and not self.chain:
                self._graph_attributes({token.text: self.tokens.value_of(token)})
            else:
                self._operand(token)
        elif self.chain:
            self.tokens.expected("a node after ->", token)
        elif token.kind == "}":
            if not self.scopes:
                return True
            self._close(token)
        elif token.kind == "pair":
            self._graph_attributes({token.text: token.value})
        elif token.kind == "bare":
            self._defaults(token)
        elif token.kind != ";":
            self.tokens.expected("a node, an edge or }", token)
        return False

    def _limit(self, count: int, most: int, what: str, position: int) -> None:
        if count > most:
            raise self.drawing.error(f"there are more than {most:,} {what}", position)

    def _open(self, brace: Token) -> None:
        self._limit(len(self.scopes), MAX_DEPTH, "braces inside braces", brace.position)
        self.scopes.append(
            _Scope(self.chain, self.node_defaults, self.edge_defaults, len(self.mentions))
        )
        self.chain = []

    def _close(self, brace: Token) -> None:
        self.chain, self.node_defaults, self.edge_defaults, first = self.scopes.pop()
        group: list[str] = []
        if self.chain or self.tokens.following.kind == "->":
            group = list(dict.fromkeys(self.mentions[first:]))
            self.mentions[first:] = group  # else groups around it would count repetitions again
        self.chain.append(group)
        self._after_operand(brace)

    def _operand(self, token: Token) -> None:
        name, nodes = token.text, self.drawing.nodes
        if name not in nodes:
            nodes[name] = DotNode(name, token.position, self.node_defaults, {}, False)
            self._limit(len(nodes), MAX_NODES, "nodes", token.position)
        self.mentions.append(name)
        self.chain.append([name])
        while self.tokens.following.kind == ":":
            self.tokens.take()
            port = self.tokens.take()  # the side of a box at which an edge ends
            if port.kind not in NAMES:
                self.tokens.expected("a port's name after :", port)
        self._after_operand(token)

    def _after_operand(self, last: Token) -> None:
        if self.tokens.following.kind == "->":
            self.tokens.take()
            return
        if self.tokens.following.kind == "--":
            self.tokens.expected("-> between the ends of an edge", self.tokens.following)
        attributes = self.tokens.attributes()
        if len(self.chain) > 1:
            self._add_edges(attributes, last.position)
        elif last.kind != "}":
            self._define(last, attributes)
        self.chain = []

    def _define(self, token: Token, attributes: dict[str, str]) -> None:
        node = self.drawing.nodes[token.text]
        again = next((key for key in attributes if key in node.attributes), None)
        if again is not None:
            raise self.drawing.error(
                f"node {short(node.name)} is defined twice ({short(again)} is given again): "
                "remove one, or give it another name",
                token.position,
            )
        if not node.attributes:
            node.position = token.position
        node.attributes.update(attributes)
        node.defined = True

    def _add_edges(self, attributes: dict[str, str], position: int) -> None:
        edges = self.drawing.edges
        for tails, heads in zip(self.chain, self.chain[1:], strict=False):
            self._limit(len(edges) + len(tails) * len(heads), MAX_EDGES, "edges", position)
            edges += [
                DotEdge(tail, head, position, self.edge_defaults, attributes)
                for tail in tails
                for head in heads
            ]

    def _defaults(self, token: Token) -> None:
        statement = token.text.lower()
        if self.tokens.following.kind != "[":
            raise self.drawing.error(
                f'{statement} is a word of DOT: a node of that name is written "{statement}"',
                token.position,
            )
        attributes = self.tokens.attributes()
        if statement == "graph":
            self._graph_attributes(attributes)
        elif statement == "node":
            self.node_defaults = self._merged(self.node_defaults, attributes, token)
        else:
            self.edge_defaults = self._merged(self.edge_defaults, attributes, token)

    def _merged(self, old: dict[str, str], new: dict[str, str], token: Token) -> dict[str, str]:
        # A new one each time, since nodes and edges keep the one that they were drawn with.
        merged = old | new
        self._limit(len(merged), MAX_DEFAULTS, "default attributes", token.position)
        return merged

    def _graph_attributes(self, attributes: dict[str, str]) -> None:
        if not self.scopes:
            self.drawing.attributes |= attributes
