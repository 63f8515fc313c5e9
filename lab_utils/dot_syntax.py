"""DOT text to nodes and edges; what the attributes mean is not asked here.

The whole DOT language for directed graphs is read: comments, joined strings, HTML
labels, ports, subgraphs, default attributes, chains and groups of edges. Braces
are kept on a stack, so that no file is too deep. ``strict`` is passed over: an
operator may well read one value twice.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from lab_utils.dot_drawing import DotEdge, DotNode, Drawing, short
from lab_utils.dot_tokens import Token, tokens

MAX_NODES = 50_000
MAX_EDGES = 1_000_000
MAX_DEFAULTS = 200  # attributes of one node or edge statement

_NAMES = ("bare", "quoted", "html")
_STATEMENTS = ("graph", "node", "edge")


def parse_dot(text: str, source: str) -> Drawing:
    """The nodes and edges of a digraph.

    Args:
        source: what messages call the text: a file name, or ``<text>``.

    Raises:
        DotError: the text is no digraph; the message tells the first line that is wrong.
    """
    drawing = Drawing(source, text)
    _Parser(drawing).parse()
    return drawing


class _Scope(NamedTuple):
    """What an opening brace sets aside until its brace closes."""

    chain: list[list[str]]
    node_defaults: dict[str, str]
    edge_defaults: dict[str, str]
    first_mention: int


class _Parser:
    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.tokens = tokens(drawing)
        self.token = next(self.tokens)  # the next one, not yet taken
        self.node_defaults: dict[str, str] = {}
        self.edge_defaults: dict[str, str] = {}
        self.mentions: list[str] = []  # names of nodes, as often as they stand in the text
        self.scopes: list[_Scope] = []
        self.chain: list[list[str]] = []  # what stands left of the last ->

    def parse(self) -> None:
        self._header()
        while not self._statement(self._take()):
            pass
        if self.token.kind != "end":
            self._expected("nothing after the digraph's closing }", self.token)

    def _header(self) -> None:
        if _is_word(self.token, "strict"):
            self._take()
        token = self._take()
        if _is_word(token, "graph"):
            raise self.drawing.error(
                "the graph is undirected: begin with digraph, and draw edges with ->",
                token.position,
            )
        if not _is_word(token, "digraph"):
            self._expected("digraph at the beginning", token)
        if self.token.kind in _NAMES:
            self._take()
        token = self._take()
        if token.kind != "{":
            self._expected("{ after digraph", token)

    def _statement(self, token: Token) -> bool:
        """Read on to the end of a statement, or up to the next operand of an edge.

        Returns whether the digraph's closing brace was read.
        """
        if token.kind == "{":
            self._open()
        elif _is_word(token, "subgraph"):
            if self.token.kind in _NAMES:
                self._take()
            if self.token.kind != "{":
                self._expected("{ after subgraph", self.token)
        elif token.kind in _NAMES and not _is_word(token, *_STATEMENTS):
            if self.token.kind == "=" and not self.chain:
                self._graph_attributes(dict([self._pair(token)]))
            else:
                self._operand(token)
        elif self.chain:
            self._expected("a node after ->", token)
        elif token.kind == "}":
            if not self.scopes:
                return True
            self._close(token)
        elif token.kind == "pair":
            self._graph_attributes({token.text: token.value})
        elif token.kind == "bare":
            self._defaults(token)
        elif token.kind != ";":
            self._expected("a node, an edge or }", token)
        return False

    def _take(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.token = next(self.tokens)
        return token

    def _expected(self, wanted: str, token: Token) -> NoReturn:
        found = f"{token.text}={token.value}" if token.kind == "pair" else token.text
        raise self.drawing.error(f"expected {wanted}, found {short(found)}", token.position)

    def _open(self) -> None:
        self.scopes.append(
            _Scope(self.chain, self.node_defaults, self.edge_defaults, len(self.mentions))
        )
        self.chain = []

    def _close(self, brace: Token) -> None:
        self.chain, self.node_defaults, self.edge_defaults, first = self.scopes.pop()
        group: list[str] = []
        if self.chain or self.token.kind == "->":
            group = list(dict.fromkeys(self.mentions[first:]))
            self.mentions[first:] = group  # else groups around it would count repetitions again
        self.chain.append(group)
        self._after_operand(brace)

    def _operand(self, token: Token) -> None:
        name, nodes = token.text, self.drawing.nodes
        if name not in nodes:
            if len(nodes) == MAX_NODES:
                raise self.drawing.error(f"there are more than {MAX_NODES:,} nodes", token.position)
            nodes[name] = DotNode(name, token.position, self.node_defaults, {}, False)
        self.mentions.append(name)
        self.chain.append([name])
        while self.token.kind == ":":  # a port: the side of the box at which an edge ends
            self._take()
            if self._take().kind not in _NAMES:
                self._expected("a port's name after :", self.token)
        self._after_operand(token)

    def _after_operand(self, last: Token) -> None:
        if self.token.kind == "->":
            self._take()
            return
        if self.token.kind == "--":
            self._expected("-> between the ends of an edge", self.token)
        attributes = self._attributes() if self.token.kind == "[" else {}
        if len(self.chain) > 1:
            self._add_edges(attributes, last.position)
        elif last.kind != "}":
            self._define(last, attributes)
        self.chain = []

    def _define(self, token: Token, attributes: dict[str, str]) -> None:
        node = self.drawing.nodes[token.text]
        for attribute in attributes.keys() & node.attributes.keys():
            raise self.drawing.error(
                f"node {short(node.name)} is defined twice ({short(attribute)} is given again): "
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
            if len(edges) + len(tails) * len(heads) > MAX_EDGES:
                raise self.drawing.error(f"there are more than {MAX_EDGES:,} edges", position)
            edges += [
                DotEdge(tail, head, position, self.edge_defaults, attributes)
                for tail in tails
                for head in heads
            ]

    def _attributes(self) -> dict[str, str]:
        """``[name=value, …]``, perhaps several in a row; HTML values are passed over."""
        found: dict[str, str] = {}
        while self.token.kind == "[":
            self._take()
            while (token := self._take()).kind != "]":
                if token.kind == "pair":
                    found[token.text] = token.value
                elif token.kind in _NAMES:
                    name, value = self._pair(token)
                    found[name] = value
                    if self.token.kind in (",", ";"):
                        self._take()
                else:
                    self._expected("name=value or ]", token)
        return found

    def _pair(self, name: Token) -> tuple[str, str]:
        sign = self._take()
        if sign.kind != "=":
            self._expected(f"= after {short(name.text)}", sign)
        value = self._take()
        if value.kind not in _NAMES:
            self._expected(f"a value for {short(name.text)}", value)
        return name.text, "" if value.kind == "html" else value.text

    def _defaults(self, token: Token) -> None:
        statement = token.text.lower()
        if self.token.kind != "[":
            raise self.drawing.error(
                f'{statement} is a word of DOT: a node of that name is written "{statement}"',
                token.position,
            )
        attributes = self._attributes()
        if statement == "graph":
            self._graph_attributes(attributes)
        elif statement == "node":
            self.node_defaults = self._merged(self.node_defaults, attributes, token)
        else:
            self.edge_defaults = self._merged(self.edge_defaults, attributes, token)

    def _merged(self, old: dict[str, str], new: dict[str, str], token: Token) -> dict[str, str]:
        # A new one each time, since nodes and edges keep the one that they were drawn with.
        if len(merged := old | new) > MAX_DEFAULTS:
            raise self.drawing.error(
                f"there are more than {MAX_DEFAULTS} default attributes", token.position
            )
        return merged

    def _graph_attributes(self, attributes: dict[str, str]) -> None:
        if not self.scopes:
            self.drawing.attributes |= attributes


def _is_word(token: Token, *words: str) -> bool:
    return token.kind == "bare" and token.text.lower() in words
