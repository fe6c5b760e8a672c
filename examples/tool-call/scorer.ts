/** Rewards a completion that is exactly the expected tool call, as JSON and nothing else. */

import type { Example, ScoreResult } from "lockedroom";

export const name = "tool_call";
export const version = "1.0.0";
export const spec =
  "The completion is one JSON object {tool, args} and nothing else. Reward 1 if tool and args equal expected_answer, otherwise 0.";
export const codes = ["not_json", "not_a_call", "wrong_tool", "wrong_args", "ok"];

interface Call {
  tool: string;
  args: Record<string, string>;
}

/** What this scorer reads of an example; a data set may lack it. */
interface Fields {
  readonly expected_answer?: Partial<Call> | null;
}

export function score(
  { expected_answer: expected }: Example<Fields>,
  completion: string,
): ScoreResult {
  let call: Partial<Call> | null;
  try {
    call = JSON.parse(completion);
  } catch {
    return fail("not_json", "the completion is not JSON");
  }
  if (typeof call?.tool !== "string" || typeof call.args !== "object" || call.args === null) {
    return fail("not_a_call", "tool or args is missing");
  }
  if (call.tool !== expected?.tool) return fail("wrong_tool", `called ${call.tool}`);
  const wrong = differing(call.args, expected.args ?? {});
  if (wrong !== undefined) return fail("wrong_args", `argument ${wrong} differs`);
  return { reward: 1, code: "ok", details: {} };
}

function differing(
  args: Record<string, unknown>,
  expected: Record<string, unknown>,
): string | undefined {
  const keys = new Set([...Object.keys(args), ...Object.keys(expected)]);
  return [...keys].sort().find((key) => args[key] !== expected[key]);
}

function fail(code: string, message: string): ScoreResult {
  return { reward: 0, code, details: { message } };
}
