/** How much the golden rows notice: what the mutation score is measured with. */

import type { CheckedScore } from "../../core/score.ts";
import type { Data } from "../data.ts";
import type { Entry } from "../search.ts";
import type { Subject } from "../subject.ts";
import { type MutationOptions, mutationScore } from "./mutation-score.ts";

/** A mutant is slow only if it hangs. */
const MUTANT_LIMIT_MS = 300;

export interface GoldenTest
  extends Pick<MutationOptions, "module" | "files" | "accepted" | "timeoutMs" | "onMutant"> {
  readonly subject: Subject;
  readonly golden: Data["golden"];
  /** Completions to look for a witness among. */
  readonly entries: readonly Entry[];
}

export async function testGoldenRows({ subject, golden, entries, ...options }: GoldenTest) {
  return mutationScore({
    ...options,
    suite: await agreeing(subject, golden),
    probes: await probesOf(subject, entries),
    timeoutMs: Math.min(options.timeoutMs, MUTANT_LIMIT_MS),
    onScored: (rows) => {
      subject.counts.mutants += rows;
    },
  });
}

/** Golden rows that the scorer agrees with; the others are for `validate-scorer`. */
async function agreeing(subject: Subject, golden: Data["golden"]) {
  const rows = golden.map(({ row, example }) => ({
    ...{ example, completion: row.completion, expected_reward: row.expected_reward },
  }));
  const scores = await subject.score(rows);
  return rows.filter((row, i) => scores[i]?.reward === row.expected_reward);
}

async function probesOf(subject: Subject, entries: readonly Entry[]) {
  const requests = entries
    .filter(({ completion }) => completion.length <= 1000)
    .map(({ target: { example }, completion }) => ({ example, completion }));
  const scores = await subject.score(requests);
  return requests.map((request, i) => ({ request, score: scores[i] as CheckedScore }));
}
