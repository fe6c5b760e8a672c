/** The scorers and data sets of a workspace, opened when they are first needed. */

import path from "node:path";
import { type Example, type GuardedScorer, type Json, toExample } from "../core/index.ts";
import { JsonlFile } from "../runs/index.ts";
import { openScorer } from "../scorers/index.ts";
import { readConfig } from "./workspace.ts";
import { fileSha256, memoize, realInside } from "./workspace-files.ts";

interface Identity {
  readonly source_sha256?: Json;
  /** Where the scorer was, for one that is neither the workspace's nor built in. */
  readonly path?: Json;
}

interface Input {
  /** Null for rows that came from memory. */
  readonly path: string | null;
  readonly sha256: string;
}

export type Examples = ReadonlyMap<string, Example>;

export class WorkspaceScorers {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The scorer with this code; undefined where that version is not here. */
  readonly scorer = memoize(
    (identity: Identity) => this.#find(identity),
    ({ source_sha256: source, path: named }) => `${source} ${named}`,
  );

  /** A data set with this hash, in its order; undefined where it is not here. */
  readonly examples = memoize(
    (input: Input) => this.#read(input),
    ({ sha256 }) => sha256,
  );

  async #find({
    source_sha256: source,
    path: named,
  }: Identity): Promise<GuardedScorer | undefined> {
    const file =
      typeof named === "string" ? realInside(this.#dir, path.resolve(this.#dir, named)) : undefined;
    const own = path.join(this.#dir, readConfig(this.#dir).scorer);
    for (const candidate of [own, undefined, ...(file === undefined ? [] : [file])]) {
      const scoring = await openScorer(candidate).catch(() => undefined);
      if (scoring?.identity.source_sha256 === source) return scoring;
      await scoring?.close();
    }
    return undefined;
  }

  /** A manifest has the path as it was typed; in a moved workspace the part from `data/` is right. */
  async #read({ path: named, sha256 }: Input): Promise<Examples | undefined> {
    if (named === null) return undefined;
    const tail = /(?:^|[\\/])(data[\\/].*)$/.exec(named)?.[1]?.replaceAll("\\", "/");
    for (const name of [named, tail ?? named]) {
      const file = path.resolve(this.#dir, name);
      if ((await fileSha256(file)) !== sha256) continue;
      const byId = new Map<string, Example>();
      for await (const batch of new JsonlFile(file, toExample).batches())
        for (const example of batch) byId.set(example.id, example);
      return byId;
    }
    return undefined;
  }
}
