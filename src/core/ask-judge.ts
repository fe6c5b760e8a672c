/** Groups beside the verdicts on them. */

import { dataError } from "./errors.ts";
import type { GroupJudge, GroupToJudge, GroupVerdict } from "./judge.ts";

/** Each item with the verdict on its group, in order; no more items are held than are under way. */
export async function* verdictsOn<T>(
  judge: Pick<GroupJudge, "judge" | "identity">,
  items: Iterable<T> | AsyncIterable<T>,
  groupOf: (item: T) => GroupToJudge,
): AsyncGenerator<readonly [T, GroupVerdict], void, void> {
  const underWay: { readonly item: T; readonly id: string }[] = [];
  let [asked, answered] = [0, 0];
  async function* groups(): AsyncGenerator<GroupToJudge, void, void> {
    for await (const item of items) {
      const group = groupOf(item);
      asked++;
      underWay.push({ item, id: group.id });
      yield group;
    }
  }
  for await (const verdict of judge.judge(groups())) {
    answered++;
    const next = underWay.shift();
    // Scores of one group must not reach another.
    if (next?.id !== verdict.id)
      throw wrongVerdicts(judge, `a verdict on ${verdict.id} out of turn`);
    yield [next.item, verdict];
  }
  if (answered < asked) throw wrongVerdicts(judge, `${answered} verdicts on ${asked} groups`);
}

function wrongVerdicts({ identity }: Pick<GroupJudge, "identity">, what: string): Error {
  return dataError(
    `the judge ${identity.name} gave ${what}`,
    "Correct the judge: it must give a verdict on each group, in their order.",
  );
}
