/**
 * Which blocks of the scorer's code have run, by V8's precise block coverage. The scorer must run
 * in this process, and its functions must not have been compiled before coverage began.
 */

import inspector from "node:inspector";
import { pathToFileURL } from "node:url";

export class Coverage {
  readonly #session = new inspector.Session();
  readonly #seen = new Set<string>();
  #urls: ReadonlySet<string> = new Set();

  constructor() {
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** The scorer's own files; nothing else is looked at. */
  watch(files: readonly string[]): void {
    this.#urls = new Set(files.flatMap((file) => [file, pathToFileURL(file).href]));
  }

  get blocks(): number {
    return this.#seen.size;
  }

  /** The blocks that have run since the last call and never before. */
  take(): string[] {
    const { result } = this.#post<inspector.Profiler.TakePreciseCoverageReturnType>(
      "Profiler.takePreciseCoverage",
    );
    const fresh = new Set<string>();
    for (const { url, functions } of result) {
      if (!this.#urls.has(url)) continue;
      for (const { functionName, ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          const block = `${functionName} ${startOffset} ${endOffset}`;
          if (count > 0 && !this.#seen.has(block)) fresh.add(block);
        }
      }
    }
    return [...fresh];
  }

  keep(blocks: readonly string[]): void {
    for (const block of blocks) this.#seen.add(block);
  }

  stop(): void {
    this.#post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }

  /** The session of one's own process answers before `post` returns. */
  #post<T>(method: string, params: object = {}): T {
    let answer: T | undefined;
    this.#session.post(method, params, (error: Error | null, result?: object) => {
      if (error) throw error;
      answer = result as T;
    });
    return answer as T;
  }
}
