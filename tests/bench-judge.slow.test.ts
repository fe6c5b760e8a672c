/** The benchmark of judges with fewer groups: one request a group, and none from the cache. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("a repeated judging makes no request and gives the same bytes", () => {
  const script = fileURLToPath(new URL("../bench/judge.mjs", import.meta.url));
  const env = { ...process.env, LOCKEDROOM_BENCH_SMALL: "1" };
  const { stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: "utf8" });
  expect(stderr).toBe("");
  // Times and memory beside other tests show nothing; the counts do not depend on them.
  expect(stdout).toMatch(/^ok {3}requests for 40 groups +40 /m);
  expect(stdout).toMatch(/^ok {3}from the cache, requests +0 /m);
  expect(stdout).toMatch(/^ok {3}from the cache, verdicts with other bytes +0 /m);
});
