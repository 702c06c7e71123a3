"""Where a kernel's source is, and what the names in it mean, without running numba.

A kernel is a decorated function (its ``py_func`` is taken), a plain function, or text: "package.module:name" or
"path/file.py:name", which is read and parsed but never imported. Names are resolved statically: constants, element
types, device functions, and the modules cuda, math, numpy, numba and operator.

Left out: a module constant that needs real computation (a call other than a type, ``np.array`` or a few builtins)
is an error when a kernel that was read as text uses it.
"""

import linecache
import types
from typing import Any

from gpumoat.simt.errors import SimtError
from gpumoat.simt.module import Module, find_module, read_module
from gpumoat.simt.scalars import scalar_name
from gpumoat.simt.statics import (
    BUILTINS,
    Constant,
    ConstantArray,
    ElementType,
    Function,
    Live,
    Path,
    Unknown,
    module_path,
)


def undecorated(kernel: Any) -> Any:
    """Return the function that ``cuda.jit`` was given: ``py_func``, or ``fn`` in numba's simulator."""
    if hasattr(kernel, "py_func"):
        return kernel.py_func
    if type(kernel).__module__.startswith("numba") and isinstance(getattr(kernel, "fn", None), types.FunctionType):
        return kernel.fn
    return kernel


def static_of(value: Any) -> Any:
    """Return what a live object (a global of the kernel's module) is to a kernel."""
    if value is None or (isinstance(value, (bool, int, float, str)) and type(value).__module__ == "builtins"):
        return Constant(value)
    if isinstance(value, tuple):
        return Constant(value)
    module = getattr(type(value), "__module__", "")
    if isinstance(value, types.ModuleType):
        return module_path(value.__name__) or Live(value)
    if (inner := undecorated(value)) is not value:
        return function_of(inner)
    home = getattr(value, "__module__", None) or ""
    if "numba" in home and "cuda" in home.split(".") and hasattr(value, "__name__"):
        return Path(f"cuda.{value.__name__}")
    if isinstance(value, types.FunctionType):
        return function_of(value)
    if isinstance(value, types.BuiltinFunctionType) and home in ("math", "builtins", "_operator"):
        return Path(f"{home.strip('_')}.{value.__name__}")
    if isinstance(value, type):
        if home == "builtins" and value.__name__ in BUILTINS:
            return Path(f"builtins.{value.__name__}")
        found = scalar_name(value.__name__)
        return ElementType(found) if found and home == "numpy" else Unknown(f"the class {value.__name__}")
    if module.startswith("numba") and (found := scalar_name(str(value))):
        return ElementType(found)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        found = scalar_name(str(value.dtype))
        if found is None:
            return Unknown(f"elements of type {value.dtype}")
        if value.shape == ():
            return Constant(value.item(), found)
        return ConstantArray(value.ravel().tolist(), tuple(value.shape), found)
    if module.startswith("numpy") and (found := scalar_name(str(value))):
        return ElementType(found)
    return Unknown(f"an object of class {type(value).__name__}")


_functions: dict[Any, Function] = {}


def function_of(function: types.FunctionType) -> Function:
    """Return the source of a live function; it is read again when a number of its module has changed."""
    code = function.__code__
    numbers = tuple((name, value) for name, value in function.__globals__.items() if type(value) in (int, float))
    key = (function, numbers)
    if key in _functions:
        return _functions[key]
    file = code.co_filename
    text = "".join(linecache.getlines(file, function.__globals__))
    if not text:
        raise SimtError(f"{function.__name__}: its source is not to be found; keep kernels in a file")
    module = Module(file, text)
    for node in module.functions:
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        if node.name == function.__name__ and first == code.co_firstlineno:
            break
    else:
        raise SimtError(f"{function.__name__}: not found at {file}:{code.co_firstlineno}; is it a lambda?")
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    arrays: dict[int, tuple[Any, Any]] = {}

    def scope(name: str) -> Any:
        if name in cells:
            value = cells[name].cell_contents
        elif name in function.__globals__:
            value = function.__globals__[name]
        else:
            return Path(f"builtins.{name}") if name in BUILTINS else None
        if id(value) in arrays and arrays[id(value)][0] is value:
            return arrays[id(value)][1]
        found = static_of(value)
        if isinstance(found, ConstantArray):  # one array, however often it is named
            arrays[id(value)] = value, found
        return found

    _functions[key] = Function(function.__name__, file, node, module.lines, scope)
    if len(_functions) > 512:
        _functions.pop(next(iter(_functions)))
    return _functions[key]


def find_kernel(kernel: Any) -> Function:
    """Return the source of a kernel given as a function, decorated or not, or as "module:name" or "file.py:name"."""
    if isinstance(kernel, Function):
        return kernel
    if isinstance(kernel, str):
        place, colon, name = kernel.rpartition(":")
        if not colon or not place or not name:
            raise SimtError(f'kernel: "{kernel}" is neither "module:name" nor "file.py:name"')
        file = place if place.endswith(".py") else find_module(place)
        if file is None:
            raise SimtError(f"kernel: the module {place} was not found")
        package = "" if place.endswith(".py") else place.rpartition(".")[0]
        found = read_module(file, package).lookup(name)
        if not isinstance(found, Function):
            raise SimtError(f"kernel: {file} has no function {name}")
        return found
    function = undecorated(kernel)
    if not isinstance(function, types.FunctionType):
        raise SimtError(f"kernel: a function, a decorated function or text is needed, not {type(kernel).__name__}")
    return function_of(function)
