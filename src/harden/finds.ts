/** What was found, one entry for each kind of attack, with the smallest completion that shows it. */

import type { GoldenRow } from "../core/records.ts";
import type { HardenFind } from "../runs/harden-report.ts";

/** A find before it is grouped: `still` tests whether a shorter completion shows the same. */
export interface Sighting {
  readonly attack_class: string;
  readonly attack: string;
  readonly problem: HardenFind["problem"];
  readonly id: string;
  readonly completion: string;
  readonly expected_reward: number;
  readonly reward: number | null;
  readonly code: string;
  readonly why: string;
  readonly payload?: string;
  /** Absent where nothing is to be made smaller. */
  readonly still?: (completion: string) => Promise<boolean>;
  /** What is said of a smaller completion, where it differs. */
  readonly smaller?: (completion: string) => Promise<Pick<HardenFind, "why" | "expected_reward">>;
}

/** Of one problem in one class; further ones are only counted. */
const MOST_PER_CLASS = 6;

export class Finds {
  readonly #first = new Map<string, { sighting: Sighting; times: number }>();
  readonly #perClass = new Map<string, number>();
  /** Kinds of attack beyond those that are kept. */
  left_out = 0;

  add(sighting: Sighting): void {
    const { attack_class, attack, problem } = sighting;
    const key = JSON.stringify([attack_class, attack, problem]);
    const known = this.#first.get(key);
    if (known) {
      known.times++;
      return;
    }
    const group = `${attack_class} ${problem}`;
    const kept = this.#perClass.get(group) ?? 0;
    if (kept >= MOST_PER_CLASS) {
      this.left_out++;
      return;
    }
    this.#perClass.set(group, kept + 1);
    this.#first.set(key, { sighting, times: 1 });
  }

  entries(): { readonly sighting: Sighting; readonly times: number }[] {
    return [...this.#first.values()];
  }
}

type Kind = HardenFind["also"][number];

/** Everything that found it. */
export function kindsOf({ attack_class, attack, problem, why, also }: HardenFind): Kind[] {
  return [{ attack_class, attack, problem, why }, ...also];
}

/** A find as a golden row, for a person to accept or reject. */
export function goldenRow(find: HardenFind): GoldenRow {
  const { id, completion, expected_reward, attack_class } = find;
  const kinds = kindsOf(find);
  const whys = [...new Set(kinds.map(({ why }) => why))];
  const by = [...new Set(kinds.map((kind) => `${kind.attack_class} (${kind.attack})`))];
  const note = `${whys.join(" ")} Found by ${by.join(", ")}.`;
  return { id, completion, expected_reward, note, exploit_class: attack_class };
}
