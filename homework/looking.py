"""What a teacher should look at in the code of a submission: found in its text, before it is run."""

import ast
import warnings

KNOWN = {
    "numpy",
    "math",
    "matplotlib",
    "helpers",
    "typing",
    "dataclasses",
    "functools",
    "itertools",
    "collections",
}
TALKING = {"or_reference", "reference", "solution", "source", "wanted"}  # of an exercise
HANDED_ON = {
    "sys",
    "_sys",
    "os",
    "_os",
    "builtins",
    "inspect",
    "gc",
    "threading",
    "subprocess",
}  # by other modules
UNUSUAL = {
    "open", "eval", "exec", "compile", "__import__", "globals", "vars", "getattr", "setattr", "delattr", "exit",
    "quit", "get_ipython", "input", "breakpoint", "__builtins__",
}  # fmt: skip


def remarks(source):
    """What is unusual in a cell's code, in words."""
    if any(line.lstrip().startswith(("!", "%")) for line in source.splitlines()):
        source = "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("!", "%")))
        found = ["commands of the shell or of IPython"]
    else:
        found = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        return list(dict.fromkeys(found + _of_tree(tree)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found


def _of_tree(tree):
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    } | {"np", "exercises", "helpers"}
    return [remark for node in ast.walk(tree) for remark in _of_node(node, modules)]


def _of_node(node, modules):
    if isinstance(node, ast.Import):
        return [f"imports {a.name}" for a in node.names if a.name.partition(".")[0] not in KNOWN]
    if isinstance(node, ast.ImportFrom):
        known = (node.module or "").partition(".")[0] in KNOWN
        return (
            [f"imports {a.name}" for a in node.names if a.name in HANDED_ON]
            if known
            else [f"imports {node.module}"]
        )
    if isinstance(node, ast.Name) and node.id in UNUSUAL:
        return [f"uses {node.id}"]
    if isinstance(node, ast.Attribute):
        stored = not isinstance(node.ctx, ast.Load)
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if stored and isinstance(root, ast.Name) and root.id in modules:
            return [f"replaces {ast.unparse(node)}"]
        if node.attr in HANDED_ON:
            return [f"uses {ast.unparse(node)[:60]}"]
        if node.attr in TALKING and "exercises" in ast.unparse(node.value):
            return [f"uses {ast.unparse(node)[:60]}"]
        if node.attr.startswith("__") and node.attr not in ("__init__", "__call__", "__name__", "__doc__"):
            return [f"uses {node.attr}"]
    return []


def is_blank(source, name):
    """Is the function of this name still without a body? None where there is no such function."""
    from helpers.exercises.running import says_nothing

    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    bodies = [n.body for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(tree)):
        return False  # `name = ...`
    return all(map(says_nothing, bodies[-1])) if bodies else None
