/** Verdicts on judges whose faults are known exactly. How often they are wrong: audit.slow.test.ts. */

import { describe, expect, test } from "vitest";
import { judgeIdentity } from "../judge/identity.ts";
import { DEFAULT_RUBRIC } from "../judge/rubric.ts";
import type { JudgeFault } from "../runs/judge-audit-schema.ts";
import { judgeAuditSchema } from "../runs/judge-audit-schema.ts";
import { auditTrusted, whyNotTrusted } from "../runs/read-judge-audit.ts";
import { AUDIT_DEFAULTS, auditOf } from "./audit.ts";
import { type SimulatedFaults, simulatedVerdicts } from "./simulated.contract.ts";

const JUDGE = judgeIdentity({
  ...{ name: "simulated", endpoint: "none", rubric: DEFAULT_RUBRIC },
  sampling: { temperature: 0, top_k: 0, top_p: 1, max_tokens: 100, seed: 0 },
});

function audited(faults: SimulatedFaults, n = 160) {
  const verdicts = simulatedVerdicts(faults, { n, audit: 1 });
  return auditOf(JUDGE, verdicts, { ...AUDIT_DEFAULTS, tasks: n });
}

const named = ({ findings }: ReturnType<typeof audited>, verdict: string) =>
  findings.filter((one) => one.verdict === verdict).map(({ fault }) => fault);

describe("an audit", () => {
  test("acquits an honest judge of everything", () => {
    const audit = audited({});
    expect(named(audit, "acquitted")).toHaveLength(7);
    expect(audit.trusted).toBe("trusted");
    expect(judgeAuditSchema.parse(audit)).toEqual(audit);
  });

  test.each<[JudgeFault, SimulatedFaults]>([
    ["position", { position: 0.15 }],
    ["position", { position: -0.15 }],
    ["length", { length: 0.15 }],
    ["self_praise", { self_praise: 0.15 }],
    ["injection", { injection: 0.3 }],
    ["injection", { injection: 0.9, obeyed: 0.2 }],
    ["noise", { noise: 0.3 }],
    ["agreement", { wrong: 0.4 }],
    ["dropped", { dropped: 0.3 }],
  ])("convicts a judge of %s alone: %o", (fault, faults) => {
    const audit = audited(faults);
    expect(named(audit, "convicted")).toEqual([fault]);
    expect(audit.trusted).toBe("not_trusted");
    const { examples } = audit.findings.find(
      (one) => one.fault === fault,
    ) as (typeof audit.findings)[0];
    expect(examples).toHaveLength(2);
  });

  test("calls an effect that is there and too small to matter neither shown nor unknown", () => {
    const { findings } = audited({ length: 0.01 });
    const length = findings.find(({ fault }) => fault === "length");
    expect(length).toMatchObject({ verdict: "acquitted", counts: { gained: 160, lost: 0 } });
    expect(length?.p_adjusted).toBeLessThan(0.001);
  });

  test("is undecided where the pairs are too few to rule a fault out", () => {
    const audit = audited({}, 20);
    expect(named(audit, "undecided")).toContain("length");
    expect(named(audit, "convicted")).toEqual([]);
    expect(audit.trusted).toBe("undecided");
  });

  test("of a judge without a verdict knows nothing but that", () => {
    const audit = audited({ dropped: 1 });
    expect(named(audit, "convicted")).toEqual(["dropped"]);
    expect(named(audit, "undecided")).toHaveLength(6);
    expect(audit.measures.accuracy).toEqual({ value: null, interval: null, n: 0 });
    expect(audit.gate.measured).toBeNull();
    expect(audit.dropped).toEqual({ no_answer: 0, refused: 0, invalid_verdict: 160 * 6 });
  });

  test("never takes a dropped verdict for a score of 0", () => {
    const [all, some] = [audited({}), audited({ dropped: 0.05 })];
    expect(some.measures.accuracy.n).toBeLessThan(all.measures.accuracy.n);
    expect(some.measures.accuracy.value).toBe(1);
    expect(some.measures.order_flips.value).toBe(0);
    expect(some.findings[0]?.counts).toMatchObject({ gained: 0, lost: 0 });
  });

  test("counts for the judge with the same fingerprint only, and only where it trusts it", () => {
    const [trusted, not] = [audited({}), audited({ position: 0.2 })];
    expect(auditTrusted(trusted, JUDGE)).toBe(true);
    expect(whyNotTrusted(not, JUDGE)).toMatch(/convicted the judge of position/);
    expect(whyNotTrusted(audited({}, 20), JUDGE)).toMatch(/could not decide about/);
    const wide = { ...AUDIT_DEFAULTS, margin: 0.5, tasks: 160 };
    const lenient = auditOf(JUDGE, simulatedVerdicts({ length: 0.3 }, { n: 160, audit: 1 }), wide);
    expect(lenient.trusted).toBe("trusted");
    expect(whyNotTrusted(lenient, JUDGE)).toMatch(/at a margin of 0.5, and 0.1 is the widest/);
    const cut = { ...trusted, findings: trusted.findings.slice(1) };
    expect(whyNotTrusted(cut, JUDGE)).toMatch(/could not decide about position/);
    const other = { name: "other", fingerprint: "0".repeat(64) };
    expect(whyNotTrusted(trusted, other)).toMatch(/another judge: simulated/);
  });
});
