/**
 * Closes the ways from Python to JavaScript and to the host that Pyodide has: the modules that stand
 * for JavaScript objects, C functions by address, sockets, and writing to the file system in memory,
 * which no limit counts.
 */

import type { PyodideAPI } from "pyodide";

/** Modules in C that give Python JavaScript objects, addresses of memory, or programs. */
const BUILT_IN = [
  ...["_pyodide_core", "_ctypes", "_remote_debugging", "_posixsubprocess"],
  ...["_testcapi", "_testinternalcapi", "_testlimitedcapi", "_testbuffer"],
  ...["_testclinic", "_testclinic_limited", "_xxtestfuzz"],
];

const LOCK = `
def lock_doors():
    import asyncio, asyncio.events, gc, os, posix, sys, time
    asyncio.events._set_running_loop(None)
    asyncio.events._event_loop_policy = None
    asyncio.run = sys.modules["pyodide.webloop"]._orig_run

    # Pyodide's own sleep holds functions of JavaScript. The clock of a row advances as it is read.
    def _sleep(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
    time.sleep = _sleep

    for _module in (os, posix):
        for _name in ("system", "popen", "fork", "execv", "execve", "kill", "_exit", "abort"):
            if hasattr(_module, _name):
                delattr(_module, _name)

    _doors = ("js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core", "_ctypes")
    for _name in list(sys.modules):
        if _name.split(".")[0] in _doors:
            del sys.modules[_name]
    sys.meta_path[:] = [one for one in sys.meta_path if one.__module__.split(".")[0] not in _doors]
    sys.path_importer_cache.clear()

    # What still holds a member of these modules loses it: functions that were put into other modules, and
    # the copy of a module that the interpreter would hand out again.
    def _is_js(value):
        return any(one.__name__ == "JsProxy" for one in type(value).__mro__)
    for _found in gc.get_objects():
        if type(_found) is dict:
            if str(_found.get("__name__")).split(".")[0] in _doors:
                _found.clear()
            else:
                for _key in [key for key, value in _found.items() if _is_js(value)]:
                    del _found[_key]
        elif type(_found).__name__ in ("JsLoader", "JsFinder"):
            vars(_found).clear()
    _found = _key = None
    gc.collect()
`;

interface Emscripten {
  readonly HEAPU8: Uint8Array;
  readonly ___heap_base: number;
  readonly SOCKFS: Record<string, unknown>;
  readonly FS: Record<string, unknown> & { ErrnoError: new (code: number) => Error };
}

/** Numbers of errors as emscripten has them. */
const [EACCES, EROFS] = [2, 69];
const WRITES = [
  ...["mkdir", "mkdev", "mknod", "symlink", "rename", "rmdir", "unlink", "truncate", "ftruncate"],
  ...["mount", "chmod", "fchmod", "lchmod", "chown", "fchown", "lchown", "utime"],
];
const FLAGS_THAT_WRITE = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000;

export function closePython(python: PyodideAPI): void {
  const module = (python as unknown as { _module: Emscripten })._module;
  forgetBuiltIns(module);
  python.runPython(LOCK);
  // Called from here, because what runs Python code for JavaScript is taken away by it.
  (python.globals.get("lock_doors") as () => void)();
  const refuse = (code: number) => () => {
    throw new module.FS.ErrnoError(code);
  };
  for (const name of WRITES) module.FS[name] = refuse(EROFS);
  module.SOCKFS.createSocket = refuse(EACCES);
  const open = module.FS.open as (path: unknown, flags?: unknown, mode?: unknown) => unknown;
  module.FS.open = (path: unknown, flags: unknown = 0, mode?: unknown) => {
    if (typeof flags !== "number" || (flags & FLAGS_THAT_WRITE) !== 0) refuse(EROFS)();
    return open(path, flags, mode);
  };
}

/** Their names are taken out of the interpreter's own table, where no import finds them again. */
function forgetBuiltIns({ HEAPU8, ___heap_base: end }: Emscripten): void {
  const constants = Buffer.from(HEAPU8.buffer, 0, Math.min(end, HEAPU8.length));
  for (const name of BUILT_IN) {
    const text = Buffer.from(`\0${name}\0`);
    const at = constants.indexOf(text);
    if (at < 0) throw new Error(`this version of pyodide has no module ${name} to be closed`);
    for (let next = at; next >= 0; next = constants.indexOf(text, next + 1))
      constants.fill(0, next + 1, next + 1 + name.length);
  }
}
