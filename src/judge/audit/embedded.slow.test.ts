/** The embedded judge over real HTTP: each of its faults is convicted, and without one it is trusted. */

import { expect, test } from "vitest";
import { AUDIT_DEFAULTS, auditOf } from "../../audit/audit.ts";
import { embeddedReplies } from "../../audit/embedded-data.ts";
import { limited } from "../../audit/labelled.ts";
import { auditRequests } from "../../audit/requests.ts";
import type { JudgeAudit, JudgeFault } from "../../runs/judge-audit-schema.ts";
import { openEmbeddedJudge } from "../open-embedded.ts";
import { askedOf } from "./ask.ts";

async function audited(faults: readonly string[], limit: number): Promise<JudgeAudit> {
  const judge = await openEmbeddedJudge({ faults });
  try {
    const verdicts = [];
    const data = limited(embeddedReplies("holdout"), limit);
    for await (const one of askedOf(judge, auditRequests(data, 0))) verdicts.push(one);
    return auditOf(judge.identity, verdicts, { ...AUDIT_DEFAULTS, tasks: limit });
  } finally {
    await judge.close();
  }
}

const convicted = ({ findings }: JudgeAudit) =>
  findings.filter(({ verdict }) => verdict === "convicted").map(({ fault }) => fault);

test("without a fault it is trusted", async () => {
  const audit = await audited([], 160);
  expect(convicted(audit)).toEqual([]);
  expect(audit.trusted).toBe("trusted");
  expect(audit.measures.accuracy.value).toBeGreaterThan(0.9);
  expect(audit.measures.kendall_tau.value).toBeGreaterThan(0.9);
}, 60_000);

test.each<[string, JudgeFault]>([
  ["position", "position"],
  ["length", "length"],
  ["self-praise", "self_praise"],
  ["injection", "injection"],
  ["noise", "noise"],
])(
  "with %s it is convicted of that alone",
  async (fault, found) => {
    const audit = await audited([fault], 60);
    expect(convicted(audit)).toEqual([found]);
    expect(audit.trusted).toBe("not_trusted");
  },
  60_000,
);

test("with several faults it is convicted of each", async () => {
  const audit = await audited(["position", "self-praise", "injection"], 60);
  expect(convicted(audit)).toEqual(["position", "self_praise", "injection"]);
}, 60_000);

test.each([
  ["wrong-ids", "invalid_verdict"],
  ["duplicate-ids", "invalid_verdict"],
  ["missing-ids", "invalid_verdict"],
  ["chatter", "invalid_verdict"],
  ["nan", "invalid_verdict"],
  ["huge", "invalid_verdict"],
  ["refusal", "refused"],
] as const)(
  "with %s no verdict counts, and all are dropped as %s",
  async (fault, type) => {
    const audit = await audited([fault], 8);
    expect(convicted(audit)).toEqual(["dropped"]);
    expect(audit.dropped[type]).toBe(8 * 6 + 2);
    expect(audit.measures.accuracy.n).toBe(0);
  },
  60_000,
);

test.each(["fenced", "chatter-once"])(
  "with %s nothing is dropped",
  async (fault) => {
    const audit = await audited([fault], 8);
    expect(audit.measures.dropped).toMatchObject({ value: 0, n: 50 });
    expect(convicted(audit)).toEqual([]);
  },
  60_000,
);
