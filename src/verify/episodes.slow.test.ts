/** A run of episodes made again: tasks, trajectories, replay, and the policy's own play. */

import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { episodeRoom } from "../../tests/episode-runs.ts";
import { openPlayable } from "../environments/playable.ts";
import { gate } from "../gate/gate.ts";
import { evaluateTrajectories } from "../loops/eval-trajectories.ts";
import { rolloutEpisodes } from "../loops/rollout-episodes.ts";
import { selectTrajectories } from "../loops/select-trajectories.ts";
import { builtInPolicy } from "../loops/selection-policy.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { PI0 } from "../policy/pi0.ts";
import { verifyBoth } from "./gate-checks.ts";
import { verify } from "./verify.ts";

const room = episodeRoom();
const ROLLOUT = room.path("rollout");
const RUN = room.path("run");

beforeAll(async () => {
  const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 12, stop: [], seed: 5 };
  const policy = await openEmbeddedPolicy(PI0, { sampling });
  const environment = await openPlayable("arithmetic");
  await rolloutEpisodes({ policy, environment, split: "dev", tasks: 6, n: 2, outdir: ROLLOUT });
  await policy.close();
  await evaluateTrajectories({ trajectories: ROLLOUT, environment, outdir: RUN });
});

const statusOf = async (run: string, more: object = {}) => {
  const { result, parts } = await verify({ run, ...more });
  return { result, ...Object.fromEntries(parts.map(({ part, status }) => [part, status])) };
};

describe("an evaluation of episodes", () => {
  test("is made again as a whole, and so is its rollout", async () => {
    expect(await statusOf(RUN)).toMatchObject({
      ...{ result: "verified", files: "equal", data: "equal", answers: "equal" },
      ...{ score: "equal", sample: "equal" },
    });
    expect(await statusOf(ROLLOUT)).toMatchObject({ files: "equal", sample: "equal" });
    const drawn = await verify({ run: RUN, only: ["sample"], sample: 2, draw: "a" });
    expect(drawn.parts[0]).toMatchObject({ repeated: 4, of: 6, status: "equal" });
  });

  test("shows an action or a reward that was edited, and a file that is gone", async () => {
    const copy = room.path("edited");
    cpSync(RUN, copy, { recursive: true });
    const file = `${copy}/results.jsonl`;
    const [first = "", ...rest] = readFileSync(file, "utf8").split("\n");
    const row = JSON.parse(first);
    const [reward, code] = row.passed ? [0, "wrong_answer"] : [1, "ok"];
    row.episode.messages.at(-1).reward = reward;
    const other = { ...row, reward, outcome_code: code, passed: !row.passed };
    writeFileSync(file, [JSON.stringify(other), ...rest].join("\n"));
    const only = ["data", "score", "sample"];
    expect(await statusOf(copy, { only })).toMatchObject({
      ...{ result: "differs", data: "equal", score: "differs" },
    });
    const moved = room.path("moved");
    cpSync(ROLLOUT, moved, { recursive: true });
    rmSync(`${ROLLOUT}/trajectories.jsonl`);
    expect(await statusOf(RUN, { only: ["answers"] })).toMatchObject({ answers: "skipped" });
    expect(await statusOf(RUN, { only: ["answers"], from: room.dir })).toMatchObject({
      answers: "equal",
    });
  });

  test("of an environment that has changed since is not possible, with the reason", async () => {
    const copy = room.path("changed");
    cpSync(RUN, copy, { recursive: true });
    const file = `${copy}/manifest.json`;
    const text = readFileSync(file, "utf8").replaceAll(
      /"source_sha256": "\w{4}/g,
      '"source_sha256": "0000',
    );
    writeFileSync(file, text);
    const { parts } = await verify({ run: copy, only: ["score"] });
    expect(parts[0]).toMatchObject({ status: "impossible" });
    expect(parts[0]?.message).toMatch(
      /^The code of the environment arithmetic is not the recorded/,
    );
  });

  test("may be a selection, which is made again from the trajectories", async () => {
    const outdir = room.path("best");
    const environment = await openPlayable("arithmetic");
    const policy = builtInPolicy("best");
    const trajectories = room.path("moved");
    await selectTrajectories({ trajectories, environment, outdir, policy, n: 2 });
    expect(await statusOf(outdir)).toMatchObject({ score: "equal", sample: "equal" });
    const file = `${outdir}/results.jsonl`;
    const text = readFileSync(file, "utf8").replace(
      /"selected":\{"index":\d/,
      '"selected":{"index":7',
    );
    writeFileSync(file, text);
    expect(await statusOf(outdir, { only: ["score"] })).toMatchObject({ score: "differs" });
  });

  test("is replayed by gate --verified", async () => {
    const report = await gate({
      ...{ baseline: RUN, candidate: RUN },
      further: (before, after) => verifyBoth(before, after, { only: ["files", "data", "score"] }),
    });
    expect(report.verified?.candidate.result).toBe("partly_verified");
    expect(report.comparable).toBe(true);
  });
});
