/** How often an audit is wrong, measured on simulated judges whose faults are known exactly. */

import { expect, test } from "vitest";
import type { JudgeFault } from "../runs/judge-audit-schema.ts";
import { AUDIT_DEFAULTS } from "./audit.ts";
import { type AuditLimits, findingsOf } from "./findings.ts";
import { observe } from "./observed.ts";
import { type SimulatedFaults, simulatedVerdicts } from "./simulated.contract.ts";

/** The findings of so many audits of a judge. */
function* audits(
  faults: SimulatedFaults,
  { times, n, limits }: { times: number; n: number; limits?: Partial<AuditLimits> },
) {
  for (let audit = 0; audit < times; audit++)
    yield findingsOf(observe(simulatedVerdicts(faults, { n, audit })), {
      ...AUDIT_DEFAULTS,
      ...limits,
    });
}

/** Three standard errors above the share. */
const atMost = (share: number, times: number) =>
  share + 3 * Math.sqrt((share * (1 - share)) / times);

test.each<[what: string, faults: SimulatedFaults]>([
  ["silent at random", { dropped: 0.1 }],
  ["silent about some pairs", { refused: 0.1 }],
])(
  "a judge at the limit of honesty, %s, is convicted of anything in at most 5 %% of audits",
  (_, silent) => {
    // Wrong and silent exactly as often as is allowed, a little noise, and a margin that rules nothing
    // out: every test can go wrong, and none is saved by an interval.
    const faults = { noise: 0.02, wrong: 0.25, ...silent };
    const limits = { margin: 1e-9, accuracyNeeded: 0.75, droppedLimit: 0.1 };
    const times = 300;
    let [convicted, acquitted] = [0, 0];
    for (const findings of audits(faults, { times, n: 40, limits })) {
      if (findings.some(({ verdict }) => verdict === "convicted")) convicted++;
      if (findings.at(-1)?.verdict === "acquitted") acquitted++;
    }
    expect(convicted / times).toBeLessThanOrEqual(atMost(0.05, times));
    // The tests are not empty: some of these judges are convicted.
    expect(convicted).toBeGreaterThan(0);
    expect(acquitted / times).toBeLessThanOrEqual(atMost(0.025, times));
  },
  60_000,
);

test.each<[what: string, fault: JudgeFault, faults: SimulatedFaults]>([
  ["a gain of the margin in every request", "length", { length: 0.05, noise: 0.02 }],
  ["a rare and large gain", "injection", { injection: 0.9, obeyed: 0.06 }],
  ["a first place favoured by the margin", "position", { position: 0.05, noise: 0.02 }],
  ["errors as often as is just not allowed", "agreement", { wrong: 0.25 }],
])(
  "%s is ruled out in at most one audit of 40",
  (_, fault, faults) => {
    const times = 150;
    let acquitted = 0;
    for (const findings of audits(faults, { times, n: 60 }))
      if (findings.some((one) => one.fault === fault && one.verdict === "acquitted")) acquitted++;
    expect(acquitted / times).toBeLessThanOrEqual(atMost(0.025, times));
  },
  60_000,
);

test("an honest judge with a little noise is trusted in most audits of 160 pairs", () => {
  const times = 60;
  let trusted = 0;
  for (const findings of audits({ noise: 0.04, wrong: 0.08 }, { times, n: 160 }))
    if (findings.every(({ verdict }) => verdict === "acquitted")) trusted++;
  expect(trusted / times).toBeGreaterThan(0.8);
}, 60_000);
