/**
 * The Python side of a python grader, the same in the sandbox and in a local interpreter. `open_grader`
 * compiles the source once; `grade_row` runs it for one row. Both take and give JSON text, so that no
 * object of the host is ever in Python's hands.
 *
 * Each row gets fresh globals: the source runs again, and a grader cannot count rows in a variable.
 * Modules that it imports are the same for all rows.
 */
export const PROGRAM = `
import builtins as _builtins, io as _io, json as _json, math as _math, numbers as _numbers
import random as _random, sys as _sys

_SHOWN = 1000

class _Output(_io.TextIOBase):
    """Keeps the beginning of what is printed, and counts the rest."""
    def __init__(self):
        self.parts, self.kept, self.length = [], 0, 0
    def writable(self):
        return True
    def write(self, text):
        if self.kept < _SHOWN:
            part = text[:_SHOWN - self.kept]
            self.parts.append(part)
            self.kept += len(part)
        self.length += len(text)
        return len(text)
    def shown(self):
        text = "".join(self.parts)
        return text if self.length <= _SHOWN else f"{text}… ({self.length} characters)"

def _place(error):
    """The line of the grader's source that was running."""
    line, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == "<grader>":
            line = at.tb_lineno
        at = at.tb_next
    if isinstance(error, SyntaxError) and error.filename == "<grader>":
        line = error.lineno
    return "" if line is None else f"line {line}: "

def _said(error):
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        text = ""
    name = type(error).__name__
    return (_place(error) + (f"{name}: {text}" if text else name))[:500]

def _fresh(code):
    space = {"__name__": "grader", "__builtins__": dict(vars(_builtins))}
    exec(code, space)
    return space

class _Wrong(Exception):
    pass

def _reward(value):
    if isinstance(value, bool) or not isinstance(value, _numbers.Real):
        kind = "None" if value is None else f"a {type(value).__name__}"
        raise _Wrong(f"grade returned {kind}, not a number")
    number = float(value)
    if not _math.isfinite(number):
        raise _Wrong(f"grade returned {number}, not a finite number")
    return number

def _seeded():
    _random.seed(0)
    numpy = _sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)

_opened = {}

def open_grader(source):
    try:
        _opened["code"] = code = compile(source, "<grader>", "exec")
        _seeded()
        _sys.stdout = _sys.stderr = _Output()
        if not callable(_fresh(code).get("grade")):
            raise _Wrong("it defines no function grade(sample, item)")
        return "{}"
    except BaseException as error:
        return _json.dumps({"error": str(error) if isinstance(error, _Wrong) else _said(error)})

def grade_row(row):
    output = _sys.stdout = _sys.stderr = _Output()
    try:
        given = _json.loads(row)
        _seeded()
        grade = _fresh(_opened["code"]).get("grade")
        answer = {"reward": _reward(grade(given["sample"], given["item"]))}
    except _Wrong as error:
        answer = {"error": str(error)}
    except BaseException as error:
        answer = {"error": _said(error)}
    if output.length > 0:
        answer["output"] = output.shown()
    return _json.dumps(answer)
`;
