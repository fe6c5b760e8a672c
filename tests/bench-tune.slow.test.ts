/** The benchmark of training files with fewer rows: every row is read, and none is found wrong. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("sound rows of every shape have no findings", () => {
  const script = fileURLToPath(new URL("../bench/tune.mjs", import.meta.url));
  const env = { ...process.env, LOCKEDROOM_BENCH_SMALL: "1" };
  const { stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: "utf8" });
  expect(stderr).toBe("");
  // Times and memory beside other tests show nothing; the counts do not depend on them.
  expect(stdout.match(/^ok {3}.*findings in sound rows +0 /gm)).toHaveLength(4);
});
