/**
 * Where the process of the sandbox begins: CPython in WebAssembly, without files, network and programs.
 * Nothing imports it, and it imports nothing but its neighbours: it may read no other files.
 */

import { allowLoading, fixClockAndRandom, lockProcess, restartClock } from "./lockdown.ts";
import type { Opening, Row, Said } from "./messages.ts";
import { closePython } from "./python-doors.ts";

const PAGE_BYTES = 65536;

/** Node's types leave these out. */
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WithWebAssembly {
  readonly WebAssembly: { readonly Memory: { readonly prototype: Memory } };
}

const tell = (said: Said) => void send(said);
const send = process.send?.bind(process) as (said: Said) => boolean;

process.once("message", async (opening: Opening) => {
  try {
    const gradeRow = await open(opening);
    process.on("message", ({ row }: Row) => {
      restartClock();
      try {
        tell({ answer: gradeRow.call(row), memoryBytes: gradeRow.memoryBytes() });
      } catch (error) {
        tell({
          broken:
            String((error as Error).message)
              .trim()
              .split("\n")
              .at(-1) ?? "",
        });
      }
    });
  } catch (error) {
    tell({ broken: String(error) });
  }
});

async function open({ source, program, pyodide, memoryBytes }: Opening) {
  limitMemory(memoryBytes);
  allowLoading();
  const { loadPyodide, version } = (await import(pyodide)) as typeof import("pyodide");
  const python = await loadPyodide({
    jsglobals: Object.create(null),
    env: { PYTHONHASHSEED: "0", HOME: "/home", _: "python" },
    stdout: () => {},
    stderr: () => {},
    stdin: () => null as never,
  });
  python.runPython(program);
  const openGrader = python.globals.get("open_grader") as (source: string) => string;
  const gradeRow = python.globals.get("grade_row") as (row: string) => string;
  closePython(python);
  fixClockAndRandom();
  lockProcess();
  restartClock();
  tell({ opened: { ...JSON.parse(openGrader(source)), runtime: `pyodide ${version}` } });
  const { _module } = python as unknown as { _module: { HEAPU8: Uint8Array } };
  return { call: gradeRow, memoryBytes: () => _module.HEAPU8.length };
}

/**
 * Limits of Node's threads and processes do not count the memory of WebAssembly. It grows by this
 * function alone, and Python gets a MemoryError where it fails.
 */
function limitMemory(bytes: number): void {
  const { prototype } = (globalThis as unknown as WithWebAssembly).WebAssembly.Memory;
  const { grow } = prototype;
  prototype.grow = function (this: Memory, pages: number) {
    if (this.buffer.byteLength + pages * PAGE_BYTES > bytes)
      throw new RangeError("the memory limit of the grader");
    return grow.call(this, pages);
  };
}
