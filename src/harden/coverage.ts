/**
 * Which parts of the scorer's code have run, by V8's precise block coverage. The scorer must run in
 * this process, and its functions must not have been compiled before coverage began.
 */

import inspector from "node:inspector";
import { pathToFileURL } from "node:url";

/** Marks of a script's characters. */
const IN_FUNCTION = 1;
const REACHED = 2;

/** Characters that ran and never before, by script. */
export type FreshCode = ReadonlyMap<string, readonly number[]>;

/** Left on until the process ends: code that is compiled while it is off is not counted by block. */
let session: inspector.Session | undefined;

export class Coverage {
  readonly #seen = new Map<string, Uint8Array>();
  #files: ReadonlyMap<string, string> = new Map();

  constructor() {
    if (session) return;
    session = new inspector.Session();
    session.connect();
    post("Profiler.enable");
    post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** The scorer's own files; nothing else is looked at. */
  watch(files: readonly string[]): void {
    this.#files = new Map(
      files.flatMap((file) => [
        [file, file],
        [pathToFileURL(file).href, file],
      ]),
    );
  }

  /** The share of the code inside functions that was reached; null where V8 reported none. */
  get reached(): number | null {
    let [code, reached] = [0, 0];
    for (const marks of this.#seen.values()) {
      for (const mark of marks) {
        if ((mark & IN_FUNCTION) === 0) continue;
        code++;
        if ((mark & REACHED) !== 0) reached++;
      }
    }
    return code === 0 || reached === 0 ? null : reached / code;
  }

  /** What has run since the last call and was never kept. */
  take(): FreshCode {
    const { result } = post<inspector.Profiler.TakePreciseCoverageReturnType>(
      "Profiler.takePreciseCoverage",
    );
    const fresh = new Map<string, number[]>();
    for (const { url, functions } of result) {
      const file = this.#files.get(url);
      if (file === undefined) continue;
      const ran = ranBy(functions);
      const seen = this.#marksOf(file, ran.length);
      const places = fresh.get(file) ?? [];
      for (let at = 0; at < ran.length; at++) {
        const mark = ran[at] as number;
        seen[at] = (seen[at] as number) | (mark & IN_FUNCTION);
        if ((mark & REACHED) !== 0 && ((seen[at] as number) & REACHED) === 0) places.push(at);
      }
      if (places.length > 0) fresh.set(file, places);
    }
    return fresh;
  }

  keep(fresh: FreshCode): void {
    for (const [file, places] of fresh) {
      const marks = this.#marksOf(file, (places.at(-1) ?? 0) + 1);
      for (const at of places) marks[at] = (marks[at] as number) | REACHED;
    }
  }

  #marksOf(file: string, length: number): Uint8Array {
    const known = this.#seen.get(file) ?? new Uint8Array(0);
    if (known.length >= length) return known;
    const longer = new Uint8Array(length);
    longer.set(known);
    this.#seen.set(file, longer);
    return longer;
  }
}

/** The session of one's own process answers before `post` returns. */
function post<T>(method: string, params: object = {}): T {
  let answer: T | undefined;
  session?.post(method, params, (error: Error | null, result?: object) => {
    if (error) throw error;
    answer = result as T;
  });
  return answer as T;
}

/** Inner functions and inner ranges come later and overrule. */
function ranBy(functions: readonly inspector.Profiler.FunctionCoverage[]): Uint8Array {
  const inner = withoutWrappers(functions);
  const end = Math.max(0, ...inner.map(({ ranges }) => ranges[0]?.endOffset ?? 0));
  const marks = new Uint8Array(end);
  for (const { ranges } of inner)
    for (const { startOffset, endOffset, count } of ranges)
      marks.fill(count > 0 ? IN_FUNCTION | REACHED : IN_FUNCTION, startOffset, endOffset);
  return marks;
}

/** The file as a whole and the function that the loader puts around it run once, on loading. */
function withoutWrappers(functions: readonly inspector.Profiler.FunctionCoverage[]) {
  let from = 0;
  while (from < functions.length && functions[from]?.functionName === "") {
    const outer = functions[from]?.ranges[0];
    const rest = functions.slice(from + 1);
    const around = rest.every(
      ({ ranges }) => outer && ranges[0] && ranges[0].endOffset <= outer.endOffset,
    );
    if (!around || rest.length === 0) break;
    from++;
  }
  return functions.slice(from);
}
