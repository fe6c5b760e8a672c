/**
 * Labelled pairs in a file: `id, prompt, a, b, better`, or `id, prompt, chosen, rejected`. Of the labels
 * of `review` those count that call one of the two better.
 */

import { type LabelledData, type LabelledPair, replyTo } from "../../audit/labelled.ts";
import { JsonlFile } from "../../runs/jsonl.ts";

export async function readPairsFile(file: string): Promise<LabelledData> {
  const lines = new JsonlFile(file, toPair);
  const pairs: LabelledPair[] = [];
  const seen = new Map<string, number>();
  for await (const batch of lines.batches()) {
    for (const pair of batch) {
      if (!pair) continue;
      // A prompt may have several pairs under its id; requests need ids of their own.
      const times = seen.get(pair.id) ?? 0;
      seen.set(pair.id, times + 1);
      pairs.push(times === 0 ? pair : { ...pair, id: `${pair.id}#${times + 1}` });
    }
  }
  return { source: file, pairs, groups: [], inputs: [lines.asInput("pairs")] };
}

function toPair(fields: Record<string, unknown>): LabelledPair | undefined {
  if ("shown_first" in fields && (fields.better ?? "tie") === "tie") return undefined;
  const text = (name: string): string => {
    const value = fields[name];
    if (typeof value === "string") return value;
    if (name === "better" && value === undefined)
      throw new TypeError(
        "the pair has no label, the field better; label the pairs first with review --pairs",
      );
    throw new TypeError(
      `the field ${name} is not a text; a pair has id, prompt, a, b, better, or id, prompt, chosen, rejected`,
    );
  };
  const [better, worse] = "chosen" in fields ? [text("chosen"), text("rejected")] : labelled(text);
  if (better === worse) throw new TypeError("both replies are the same, so that neither is better");
  const [id, prompt] = [text("id"), text("prompt")];
  if (id === "") throw new TypeError("the field id is empty");
  return { id, better: replyTo(prompt, better), worse: replyTo(prompt, worse), tools: [] };
}

function labelled(text: (name: string) => string): [better: string, worse: string] {
  const [a, b, better] = [text("a"), text("b"), text("better")];
  if (better !== "a" && better !== "b")
    throw new TypeError(`the field better is neither "a" nor "b"`);
  return better === "a" ? [a, b] : [b, a];
}
