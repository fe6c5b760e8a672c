/** The failure table as text. */

import { FailureModes } from "../report/failures/rows/failure-modes.ts";
import { type ModeStatus, NOT_MEASURABLE } from "../report/failures/status.ts";
import type { Run } from "../runs/reader.ts";
import { hanging } from "./terminal.ts";

/** The sentence beside it says what the prompts lack. */
const short = (status: ModeStatus) => (status === NOT_MEASURABLE ? "not measurable" : status);

/** 80 columns wide. */
export async function failureLines(run: Run): Promise<string[]> {
  const modes = new FailureModes(run.manifest);
  for await (const batch of run.results().batches()) for (const row of batch) modes.add(row);
  return [
    "",
    "  failure                 status          numbers",
    ...modes.findings().map(({ name, status, numbers, measured }) => {
      const label = `  ${name.padEnd(23)} ${short(status).padEnd(14)}  `;
      return hanging(label, `${numbers.join(" ")} Measured by: ${measured}.`);
    }),
  ];
}
