/** Axes of built-in scorers, which the gate can score again. Where it cannot, nothing vouches for their rewards. */

import { canonicalJson } from "../core/json.ts";
import type { Reason } from "../runs/gate-report.ts";
import type { Manifest } from "../runs/schemas.ts";
import { AXIS_NAMES } from "../scorers/axes/index.ts";
import { openBuiltIn } from "./rescore.ts";

type Axis = NonNullable<Manifest["axes"]>[number];
type WithAxes = Pick<Manifest, "axes">;

/** Refuses an axis of a built-in whose recorded identity is not that of the code here. */
export async function unknownAxes(baseline: WithAxes, candidate: WithAxes): Promise<Reason[]> {
  const [before, after] = [await unknownOf(baseline), await unknownOf(candidate)];
  if (before.length + after.length === 0) return [];
  return [
    {
      code: "axis_code_unknown",
      message:
        "An embedded axis was measured by code that is not the code here, so its rewards cannot be checked. Evaluate both runs again.",
      baseline: before.join(", ") || "known",
      candidate: after.join(", ") || "known",
    },
  ];
}

async function unknownOf({ axes = [] }: WithAxes): Promise<string[]> {
  const unknown: string[] = [];
  for (const axis of axes) if (!(await isKnown(axis))) unknown.push(axis.name);
  return unknown;
}

async function isKnown({ name, scorer }: Axis): Promise<boolean> {
  const isReserved = AXIS_NAMES.includes(name);
  if (isReserved && scorer.name !== name) return false;
  if (!isReserved && (scorer.path !== null || scorer.source !== undefined)) return true;
  const opened = await openBuiltIn(scorer);
  if (opened === undefined) return false;
  await opened.close();
  return canonicalJson(opened.identity) === canonicalJson(scorer);
}
