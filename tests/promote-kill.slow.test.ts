/** A process that is killed while it writes the history of an alias leaves whole entries only. */

import { readdirSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { aliasPlace, readAlias } from "../src/runs/alias-history.ts";
import { TEMPORARY } from "../src/runs/artifacts.ts";
import { promote } from "../src/verify/promote.ts";
import { ROOT, start, until, Workspace } from "./cli.ts";

const FOR_EVER = `
  import { promote } from ${JSON.stringify(`${ROOT}dist/verify/index.js`)};
  const place = { name: "production", dir: "production" };
  for (let i = 0; ; i++) {
    const policy = { source: "pi0", identity: { kind: "checkpoint", fingerprint: String(i) } };
    await promote({ place, policy, force: true, reason: "again" });
  }`;

test("killed while it writes, ten times, and the history goes on", async () => {
  const workspace = new Workspace();
  const place = aliasPlace(workspace.path("production"));
  const unfinished = () => readdirSync(place.dir).filter((name) => name.endsWith(TEMPORARY)).length;
  for (let round = 1; round <= 10; round++) {
    const before = readAlias(place).length;
    const left = round === 1 ? 0 : unfinished();
    const args = ["--input-type=module", "-e", FOR_EVER];
    const { child, finished } = start(process.execPath, args, workspace.dir);
    await until(() => readAlias(place).length >= before + 3, "entries are written");
    // No sleep: a write takes less than the shortest one.
    while (unfinished() <= left) await turn();
    child.kill("SIGKILL");
    await finished;
    const entries = readAlias(place);
    const policy = { source: "pi0", identity: { kind: "checkpoint", fingerprint: "last" } };
    const { number } = await promote({ place, policy, force: true, reason: "after the kill" });
    expect(number).toBe(entries.length + 1);
  }
  // What a kill in the middle of a write leaves behind.
  expect(unfinished()).toBeGreaterThan(0);
  expect(readdirSync(place.dir).filter((name) => /^\d{4}\.json$/.test(name))).toHaveLength(
    readAlias(place).length,
  );
}, 60_000);
