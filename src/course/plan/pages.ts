/** Pages that `report` wrote about runs: each is written again, and counts if it is the same. */

import path from "node:path";
import { messageOf } from "../../core/index.ts";
import { readPageOptions, report } from "../../report/index.ts";
import { memoize, textOf } from "../workspace-files.ts";
import type { Training } from "./training.ts";

export interface Page {
  readonly path: string;
  readonly html: string;
  /** The folders of its runs, in its order, with the name of each on the page. */
  readonly runs: readonly { readonly folder: string; readonly name: string }[];
}

export class Pages {
  readonly #dir: string;
  readonly #folders: readonly string[];
  /** Every HTML file below runs/. */
  readonly files: readonly string[];

  constructor(dir: string, files: readonly string[]) {
    this.#dir = dir;
    this.files = files.filter((file) => /\.html?$/i.test(file));
    this.#folders = files
      .filter((file) => /\/manifest\.json$/.test(file))
      .map((file) => path.posix.dirname(file));
  }

  /** The page, or why it is none; undefined for a file that names no run of this workspace. */
  readonly read = memoize((file: string) => this.#read(file));

  async #read(file: string): Promise<Page | string | undefined> {
    const html = textOf(this.#dir, file) ?? "";
    const options = readPageOptions(html);
    if (options === undefined) return undefined;
    const runs = options.runs.flatMap((name) => {
      const folder = this.#folders.find((one) => `/${one}`.endsWith(`/${name}`));
      return folder === undefined ? [] : [{ folder, name }];
    });
    if (runs.length < options.runs.length) return undefined;
    try {
      const again = await report({
        ...options,
        runs: runs.map(({ folder }) => path.join(this.#dir, folder)),
      });
      return again.html === html
        ? { path: file, html, runs }
        : `${file} is not what report writes about its runs now.`;
    } catch (error) {
      return `${file} cannot be written again: ${messageOf(error)}`;
    }
  }

  /** The first valid page about a run, and otherwise the first problem of one that names it. */
  async about({ path: folder }: Pick<Training, "path">): Promise<Page | string | undefined> {
    let problem: string | undefined;
    for (const file of this.files) {
      if (!textOf(this.#dir, file)?.includes(path.posix.basename(folder))) continue;
      const page = await this.read(file);
      if (typeof page === "string") problem ??= page;
      else if (page?.runs.some((run) => run.folder === folder)) return page;
    }
    return problem;
  }

  /** The command that writes the page of these runs. */
  command(runs: readonly Pick<Training, "path">[]): string {
    const sweep = sweepOf(runs.map((run) => run.path));
    const name = `runs/${path.posix.basename(sweep ?? runs[0]?.path ?? "run")}.html`;
    const force = this.files.includes(name) ? " --force" : "";
    const folders = sweep === undefined ? runs.map((run) => run.path).join(" ") : `${sweep}/*/`;
    return `./lockedroom report --run ${folders} --outfile ${name}${force}`;
  }
}

/** The sweep that several runs belong to: its page is about all of its runs. */
function sweepOf([first = "", ...more]: readonly string[]): string | undefined {
  const parent = path.posix.dirname(first);
  const together = more.length > 0 && more.every((one) => path.posix.dirname(one) === parent);
  return together && parent !== "runs" ? parent : undefined;
}
