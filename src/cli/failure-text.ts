/** The failure table as text. */

import { FailureModes } from "../report/axes/failure-modes.ts";
import type { Run } from "../runs/reader.ts";
import { hanging } from "./terminal.ts";

/** 80 columns wide. */
export async function failureLines(run: Run): Promise<string[]> {
  const modes = new FailureModes(run.manifest);
  for await (const batch of run.results().batches()) for (const row of batch) modes.add(row);
  return [
    "",
    "  failure                 status        numbers",
    ...modes.findings().map(({ name, status, numbers, measured }) => {
      const label = `  ${name.padEnd(23)} ${status.padEnd(12)}  `;
      return hanging(label, `${numbers.join(" ")} Measured by: ${measured}.`);
    }),
  ];
}
