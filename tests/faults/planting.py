"""Small faults a programmer could have made, found in a file by its syntax tree."""

import ast
import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

OPERATORS: dict[type[ast.AST], ast.AST] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.Mult(),
    ast.Pow: ast.Mult(),
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
    ast.And: ast.Or(),
    ast.Or: ast.And(),
}
DROPPED = (ast.AugAssign, ast.Raise, ast.Delete, ast.Continue)
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.FunctionDef, ast.ClassDef)
EVEN_HANDED = {"max", "min", "maximum", "minimum", "promote_types", "transpose"}
UNSEEN = {"device", "strict"}  # one device cannot tell; zip is strict against bugs elsewhere
NOTHING = {"None", "False"}  # where it was not None, None does the same as False
UNTOUCHED = {"annotation", "returns", "decorator_list", "bases", "type_comment"}


@dataclass(frozen=True)
class Fault:
    """One change of one file: what stood there, what stands there now, and between which bytes."""

    path: Path
    lines: range
    in_function: bool
    kind: str
    before: str
    after: str
    start: int
    end: int

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.lines.start}  {self.kind}: {before}  ->  {after}"

    def overlaps(self, other: "Fault") -> bool:
        """Return whether both cannot be planted at once."""
        return self.path == other.path and self.start < other.end and other.start < self.end


def plant(source: bytes, faults: Iterable[Fault]) -> bytes:
    """Return the text of a file with all these faults, which must not overlap."""
    for fault in sorted(faults, key=lambda fault: fault.start, reverse=True):
        source = source[: fault.start] + fault.after.encode() + source[fault.end :]
    return source


@dataclass(frozen=True)
class _Place:
    lines: range
    in_function: bool


def faults_in(path: Path, root: Path) -> list[Fault]:
    """List the faults of one file; each can be parsed and differs from the file."""
    source = (root / path).read_bytes()
    tree = ast.parse(source)
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    found = []
    for place, node, kind, new in _walk(tree, _Place(range(1, 2), False)):
        before, span = ast.unparse(node), _span(starts, node)
        if new != f"({before})":  # arguments that are the same can be swapped
            found.append(Fault(path, place.lines, place.in_function, kind, before, new, *span))
    return found


def _walk(node: ast.AST, place: _Place) -> Iterator[tuple[_Place, ast.AST, str, str]]:
    if isinstance(node, ast.stmt):
        place = _Place(_own_lines(node), place.in_function)
    for kind, new in _faults_of(node):
        yield place, node, kind, new
    if _is_out_of_reach(node):
        return
    for field, value in ast.iter_fields(node):
        inside = place
        if isinstance(node, ast.FunctionDef) and field == "body":
            inside = _Place(place.lines, True)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in UNTOUCHED:
                yield from _walk(child, inside)


def _is_out_of_reach(node: ast.AST) -> bool:
    """Return whether nothing inside is worth a fault: the words of a message are no logic."""
    is_message = isinstance(node, ast.Raise | ast.JoinedStr)
    return is_message or (isinstance(node, ast.keyword) and node.arg in UNSEEN)


def _own_lines(statement: ast.stmt) -> range:
    """Return the lines of a statement without those of the statements inside it."""
    end = statement.end_lineno or statement.lineno
    if isinstance(statement, COMPOUND):
        first = (
            statement.cases[0].pattern if isinstance(statement, ast.Match) else statement.body[0]
        )
        end = max(statement.lineno, first.lineno - 1)
    return range(statement.lineno, end + 1)


def _faults_of(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in NOTHING:
            yield "returns nothing", "return None"
        case ast.Expr(value=ast.Call()):
            yield "dropped", "pass"
        case ast.stmt() if isinstance(node, DROPPED):
            yield "dropped", "pass"
        case ast.expr():
            for kind, new in _faults_of_expression(node):
                yield kind, f"({ast.unparse(new)})"


def _faults_of_expression(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Compare(ops=[op, *others]) if type(op) in OPERATORS:
            yield "operator", _altered(node, ops=[OPERATORS[type(op)], *others])
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OPERATORS:
            yield "operator", _altered(node, op=OPERATORS[type(op)])
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "sign", operand
        case ast.Constant(value=bool() | int() | float() as value):
            yield "constant", ast.Constant(_another(value))
        case ast.IfExp(body=body, orelse=orelse):
            yield "branches", _altered(node, body=orelse, orelse=body)
        case ast.Call():
            yield from _faults_of_call(node)


def _faults_of_call(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    is_plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    if len(node.args) > 1 and is_plain and name not in EVEN_HANDED:
        yield "arguments", _altered(node, args=[node.args[1], node.args[0], *node.args[2:]])
    for k, keyword in enumerate(node.keywords):
        if keyword.arg not in UNSEEN:
            yield "keyword", _altered(node, keywords=node.keywords[:k] + node.keywords[k + 1 :])


def _altered(node: ast.expr, **fields: object) -> ast.expr:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _another(value: float) -> float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else 2 * value + 0.5


def _span(starts: Sequence[int], node: ast.AST) -> tuple[int, int]:
    """Return where a node begins and ends; offsets of the syntax tree count bytes, too."""
    assert isinstance(node, ast.stmt | ast.expr)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start, end = starts[node.lineno - 1], starts[node.end_lineno - 1]
    return start + node.col_offset, end + node.end_col_offset
