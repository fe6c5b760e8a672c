/** A judged run made again: its scores are read from the judge's answers, and the judge is asked. */

import { beforeAll, describe, expect, test } from "vitest";
import { episodeRoom } from "../../tests/episode-runs.ts";
import { better, forged, told } from "../../tests/forged-judged-run.ts";
import type { JudgeIdentity } from "../core/judge.ts";
import { openPlayable } from "../environments/playable.ts";
import { gate } from "../gate/gate.ts";
import { judgeTogether } from "../judge/judge-together.ts";
import { openEmbeddedJudge } from "../judge/open-embedded.ts";
import { readRubric } from "../judge/rubric.ts";
import { verifyBoth } from "./gate-checks.ts";
import { verify } from "./verify.ts";

const room = episodeRoom();
const half = (place: number) => (place % 2 === 0 ? ("gold" as const) : ("idle" as const));
const only = ["files", "data", "answers", "score"] as const;
/** Over real HTTP, as the command opens it. */
const openJudge = ({ rubric, sampling }: JudgeIdentity) =>
  openEmbeddedJudge({ rubric: readRubric(rubric, "the manifest"), sampling });

let judged: Readonly<Record<"baseline" | "candidate", string>>;

beforeAll(async () => {
  const judge = await openEmbeddedJudge();
  const common = { env: "tool-calls", tasks: 8 };
  const { baseline, candidate } = await judgeTogether({
    baseline: await room.rollout("a", { ...common, policy: "gold" }),
    candidate: await room.rollout("b", { ...common, policy: "weak", player: half }),
    environment: await openPlayable("tool-calls"),
    ...{ judge, outdir: room.path("judged") },
  }).finally(() => judge.close());
  judged = { baseline: baseline.dir, candidate: candidate.dir };
});

describe("a judged run", () => {
  test("is verified by asking its judge again", async () => {
    const { candidate } = judged;
    const found = await verify({ run: candidate, only, openJudge });
    expect(found.parts.map(({ part, status }) => `${part} ${status}`)).toEqual(
      only.map((part) => `${part} equal`),
    );
  });

  test("is not verified without its judge, or with another one", async () => {
    const { candidate } = judged;
    const scores = async (open?: typeof openJudge) =>
      (await verify({ run: candidate, only: ["score"], openJudge: open })).parts[0];
    expect(await scores()).toMatchObject({ status: "impossible" });
    const other = await scores(() => openEmbeddedJudge({ faults: ["length"] }));
    expect(other).toMatchObject({ status: "impossible" });
    expect(other?.message).toContain("the model differ");
  });

  test("with answers that its judge did not give is found out, in both runs", async () => {
    const { baseline, candidate } = judged;
    const worse = (row: Parameters<typeof told>[0]) => ({
      ...told(row),
      ...{ reward: 0, outcome_code: "not_preferred", passed: false },
    });
    const edited = {
      baseline: forged(room.path("edited", "baseline"), baseline, {
        row: worse,
        judgement: better,
      }),
      candidate: forged(room.path("edited", "candidate"), candidate, {
        ...{ row: told, judgement: better },
      }),
    };
    // The gate alone reads consistent files: the claim is that both were written by the judge.
    const codes = (await gate(edited)).reasons.map(({ code }) => code);
    expect(codes).not.toContain("scores_differ_from_judgements");
    expect(codes).not.toContain("judgements_differ");
    const checked = await gate({
      ...edited,
      further: (before, after) => verifyBoth(before, after, { only, openJudge }),
    });
    expect(checked.reasons.map(({ code }) => code)).toContain("verification_failed");
  });
});
