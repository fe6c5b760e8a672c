/** Runs of episodes as evidence: they are played again, as completions are scored again. */

import { cpSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { episodeRoom } from "../../tests/episode-runs.ts";
import { forge } from "../../tests/gate-runs.ts";
import { openPlayable } from "../environments/index.ts";
import { evaluateTrajectories } from "../loops/index.ts";
import { openRun } from "../runs/index.ts";
import { RunVerifier } from "./run-verifier.ts";
import { DEFAULT_CONFIG, MARKER } from "./workspace.ts";

const room = episodeRoom();
const verified = async (dir: string) =>
  new RunVerifier(room.dir).verify(await openRun(path.join(room.dir, dir)));

beforeAll(async () => {
  writeFileSync(room.path(MARKER), JSON.stringify(DEFAULT_CONFIG));
  const player = () => "idle" as const;
  const trajectories = await room.rollout("rollout", { env: "tool-calls", tasks: 3, player });
  const environment = await openPlayable("tool-calls");
  await evaluateTrajectories({ trajectories, environment, outdir: room.path("run") });
});

test("episodes of an embedded environment are played again", async () => {
  expect(await verified("run")).toEqual({});
});

test("a reward that was raised, with hashes and figures that fit, is noticed", async () => {
  const dir = room.path("forged/run");
  cpSync(room.path("run"), dir, { recursive: true });
  forge(dir, { row: (row) => ({ ...row, reward: 1, outcome_code: "solved", passed: true }) });
  expect((await verified("forged/run")).problem).toMatch(/is not what its environment gives/);
});
