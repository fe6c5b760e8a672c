/** The printed summary of a review. */

import { visibleShort } from "../core/visible.ts";
import type { Agreement } from "../judge/review/agreement.ts";
import type { Choice } from "../judge/review/pair.ts";
import type { ReviewFigures } from "../runs/review-schemas.ts";
import { counted, out, paint, percent, print, warning } from "./terminal.ts";

/** Below it a preference for a place is more than chance. */
const LEVEL = 0.05;
const LISTED = 10;

export function printFigures(figures: ReviewFigures): void {
  const { n_pairs: pairs, n_labelled: labelled, n_skipped: skipped } = figures;
  const { wins, losses, ties, first_chosen: first } = figures;
  print(
    `${labelled} of ${counted(pairs, "pair")} labelled${skipped > 0 ? `, ${skipped} skipped` : ""}.`,
  );
  if (labelled === 0) return;
  out();
  const rate = shareText(figures.win_rate, figures.win_rate_interval);
  out(`  win rate    ${paint("bold", rate)} of the candidate`);
  out(
    `              ${counted(wins, "win")}, ${losses === 1 ? "1 loss" : `${losses} losses`}, ${counted(ties, "tie")} (a tie counts as half)`,
  );
  if (figures.p_value !== null)
    out(`              sign test over wins and losses: ${pText(figures.p_value)}`);
  if (first.of === 0) return;
  out(
    `  position    answer 1 chosen in ${first.count} of ${first.of}: ${shareText(first.share, first.interval)}`,
  );
  if ((figures.first_p_value ?? 1) >= LEVEL) return;
  const place = first.count > first.of / 2 ? 1 : 2;
  const text = `Answer ${place} was chosen more often than chance explains (${pText(figures.first_p_value ?? 1)}). Which answer stands there is drawn at random, so the place itself was preferred.`;
  out(warning(text));
}

export function printAgreement(found: Agreement): void {
  out();
  if (found.n === 0) {
    out(warning("No labelled pair has a verdict of the judge.", ""));
    return;
  }
  const { n, agreed, decided } = found;
  const share = shareText(found.share, found.interval);
  out(`  agreement   ${paint("bold", share)} of judge and person, ${agreed} of ${n}`);
  const kappa =
    found.kappa === null ? "undefined, one of the two never varies" : figure(found.kappa);
  out(`              Cohen's kappa ${kappa}`);
  out(`              without ties: ${decided.agreed} of ${decided.n}`);
  if (found.without_verdict > 0)
    out(`              ${found.without_verdict} labelled without a verdict of the judge`);
  const { disagreements } = found;
  if (disagreements.length === 0) return;
  out();
  out("Disagreements:");
  for (const { id, person, judge } of disagreements.slice(0, LISTED))
    out(
      `  ${visibleShort(id, 34).padEnd(34)}  person ${NAMES[person].padEnd(9)}  judge ${NAMES[judge]}`,
    );
  const more = disagreements.length - LISTED;
  if (more > 0) out(`  and ${more} more; --report writes all of them`);
}

const NAMES: Record<Choice, string> = { a: "baseline", b: "candidate", tie: "tie" };

function shareText(share: number | null, interval: readonly [number, number] | null): string {
  if (share === null) return "undefined";
  if (interval === null) return percent(share);
  return `${percent(share)} (95 %: ${percent(interval[0])} to ${percent(interval[1])})`;
}

const figure = (value: number) => value.toFixed(3);

const pText = (p: number) => (p < 0.0001 ? "p < 0.0001" : `p ${p.toFixed(4)}`);
