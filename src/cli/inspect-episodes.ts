/** inspect-run on a rollout's own trajectories, before any evaluation. */

import { visible } from "../core/visible.ts";
import type { Conversation } from "../report/conversation.ts";
import type { InspectOptions } from "../report/inspect.ts";
import {
  type EpisodeInspection,
  findConversations,
  inspectTrajectories,
} from "../report/inspect-trajectories.ts";
import { reasonOf } from "../report/reason.ts";
import { endText, printConversation, printShort } from "./conversation-text.ts";
import { episodeTable } from "./episode-text.ts";
import { bar, counted, out, paint, percent, print, program, warning } from "./terminal.ts";

interface Flags extends InspectOptions {
  readonly run: string;
  readonly id?: string;
}

export async function inspectRollout(flags: Flags): Promise<void> {
  if (flags.id !== undefined)
    return printConversations(await findConversations(flags.run, flags.id));
  const found = await inspectTrajectories(flags.run, flags);
  const { total, scored, passed, meanReward, failures } = found;
  const { environment } = found;
  print(`${visible(flags.run)}: ${counted(total, "episode")} of ${whatOf(found, flags.run)}`);
  if (failures.length > 0) {
    const [first] = failures;
    out(
      warning(
        visible(
          `${counted(failures.length, "rollout")} failed and ${failures.length === 1 ? "has" : "have"} no episode; the first: ${first?.id}, ${first?.type}: ${first?.message}`,
        ),
        "",
      ),
    );
  }
  out();
  if (scored === 0) out("  pass rate    undefined: no episode has a reward");
  else {
    // Which codes are those of a solved task is known from the environment alone.
    if (environment !== undefined)
      out(`  pass rate    ${(passed / scored).toFixed(4)}  ${passed} of ${scored}`);
    out(`  mean reward  ${meanReward?.toFixed(4)}`);
  }
  for (const line of episodeTable(found.episodes)) out(line);
  if (found.groups.length === 0) out(flags.onlyFails ? "\nNo failed episodes." : "\nNo episodes.");
  for (const { code, count, shown, passes } of found.groups) {
    const share = count / total;
    out();
    out(
      `${paint("bold", visible(code))}  ${counted(count, "episode")}, ${percent(share)}  ${bar(share)}${passes ? "  solved" : ""}`,
    );
    for (const one of shown) {
      printListed(one);
      if (found.judge !== undefined) print(`judge> ${reasonOf(one, 200)}`, "    ");
    }
  }
  if (found.hidden > 0) out(`\n${found.hidden} less common codes not shown; use a larger --top-k.`);
}

function whatOf({ environment, judge }: EpisodeInspection, run: string): string {
  if (environment === undefined)
    return `an environment that the file does not name. ${program()} eval --trajectories ${visible(run)} --env NAME plays them again and gives the pass rate.`;
  const rollout = `a rollout in ${visible(environment)}`;
  return judge === undefined
    ? `${rollout}, as recorded. ${program()} eval --trajectories plays them again.`
    : `${rollout}, judged by ${visible(judge)}: the rewards are its scores.`;
}

/** An episode in a list. */
export function printListed(one: Conversation): void {
  out(`  ${paint("cyan", visible(one.id))} sample ${one.sample + 1}  ${endText(one)}`);
  printShort(one);
}

export function printConversations(all: readonly Conversation[]): void {
  for (const [i, one] of all.entries()) {
    if (i > 0) out(`\n${"─".repeat(40)}\n`);
    printConversation(one, all.length);
  }
}
