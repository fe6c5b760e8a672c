/** Whether a judge and a person prefer the same answers. */

import type { ReviewLabel } from "../../runs/review-schemas.ts";
import { wilsonInterval } from "../../stats/wilson.ts";
import type { Choice } from "./pair.ts";

export interface Disagreement {
  readonly id: string;
  readonly person: Choice;
  readonly judge: Choice;
}

export interface Agreement {
  /** Pairs with a label of the person and a verdict of the judge. */
  readonly n: number;
  readonly agreed: number;
  readonly share: number | null;
  readonly interval: readonly [number, number] | null;
  /** Cohen's: 0 is what chance gives; null where one of the two always says the same. */
  readonly kappa: number | null;
  /** Where neither calls it a tie. */
  readonly decided: { readonly n: number; readonly agreed: number };
  /** Labelled pairs that the judge has no verdict on. */
  readonly without_verdict: number;
  readonly disagreements: readonly Disagreement[];
}

export function agreementOf(
  labels: readonly ReviewLabel[],
  verdicts: ReadonlyMap<string, Choice>,
): Agreement {
  const labelled = labels.filter((label) => label.better !== undefined);
  const both = labelled.flatMap(({ id, better }): Disagreement[] => {
    const judge = verdicts.get(id);
    return judge === undefined ? [] : [{ id, judge, person: better as Choice }];
  });
  const same = ({ person, judge }: Disagreement) => person === judge;
  const agreed = both.filter(same).length;
  const decided = both.filter(({ person, judge }) => person !== "tie" && judge !== "tie");
  return {
    ...{ n: both.length, agreed, share: both.length === 0 ? null : agreed / both.length },
    interval: wilsonInterval(agreed, both.length) ?? null,
    kappa: cohensKappa(both),
    decided: { n: decided.length, agreed: decided.filter(same).length },
    without_verdict: labelled.length - both.length,
    disagreements: both.filter((one) => !same(one)),
  };
}

function cohensKappa(both: readonly Disagreement[]): number | null {
  const n = both.length;
  if (n === 0) return null;
  const shareOf = (who: "person" | "judge", choice: Choice) =>
    both.filter((one) => one[who] === choice).length / n;
  const choices: readonly Choice[] = ["a", "b", "tie"];
  const byChance = choices.reduce(
    (sum, choice) => sum + shareOf("person", choice) * shareOf("judge", choice),
    0,
  );
  if (byChance === 1) return null;
  const found = both.filter(({ person, judge }) => person === judge).length / n;
  return (found - byChance) / (1 - byChance);
}
