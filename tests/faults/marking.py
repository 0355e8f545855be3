"""A file of the room with a mark before each statement of its functions, for the survey."""

import ast

IMPORT = "from faults_hits import hit as _faults_hit"


def marked(source: bytes, path: str) -> str:
    """Return the text of a file that says which of its lines run; `path` is what it says."""
    tree = _Marker(path).visit(ast.parse(source))
    after = sum(_must_stay_first(statement) for statement in tree.body)
    tree.body[after:after] = ast.parse(IMPORT).body
    return ast.unparse(ast.fix_missing_locations(tree))


def _must_stay_first(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Marker(ast.NodeTransformer):
    def __init__(self, path: str) -> None:
        self.path = path
        self.depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # as ast asks
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if self.depth:
            for name in ("body", "orelse", "finalbody"):
                inside = getattr(node, name, None)
                if isinstance(inside, list):  # of a conditional expression it is no list
                    setattr(node, name, [one for old in inside for one in (*self._mark(old), old)])
        return node

    def _mark(self, statement: ast.stmt) -> list[ast.stmt]:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        text = f"_faults_hit({self.path!r}, {statement.lineno})"
        return [] if is_docstring else ast.parse(text).body
