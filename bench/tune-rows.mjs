// Rows of training files for bench/tune.mjs: the same ones every time, none of them twice.
import { writeFileSync } from "node:fs";

const WORDS =
  "the claim was filed after hail broke three tiles and water reached a bedroom ceiling so ask when it began which rooms are wet whether photos exist and what the policy says about storm damage".split(
    " ",
  );

/** A sentence of `count` words that only this row has. */
function sentence(row, count) {
  return `${row}: ${Array.from({ length: count }, (_, i) => WORDS[(row * 7 + i * 13) % WORDS.length]).join(" ")}`;
}

const system = { role: "system", content: "You triage claims. Answer with one word and a reason." };
const user = (row) => ({ role: "user", content: sentence(row, 45) });
const answer = (row, kind = "property") => ({
  role: "assistant",
  content: `${kind} because ${sentence(row, 20)}`,
});

const tools = [
  {
    type: "function",
    function: { name: "look_up", description: "Finds a policy", parameters: { type: "object" } },
  },
];

const ROWS = {
  sft: (row) => ({ messages: [system, user(row), answer(row)] }),
  dpo: (row) => ({
    input: { messages: [system, user(row)] },
    preferred_output: [answer(row)],
    non_preferred_output: [answer(row, "motor")],
  }),
  rft: (row) => ({
    messages: [{ ...system, role: "developer" }, user(row)],
    ...{ id: `claim-${row}`, answer: "property", tags: ["storm", "roof"] },
  }),
  "sft with tools": (row) => ({
    messages: [
      ...[system, user(row)],
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            ...{ id: `call_${row}`, type: "function" },
            function: { name: "look_up", arguments: `{"claim":${row}}` },
          },
        ],
      },
      { role: "tool", tool_call_id: `call_${row}`, content: sentence(row, 10) },
      answer(row),
    ],
    tools,
  }),
};

export const SHAPES = Object.keys(ROWS);

export function writeRows(file, shape, count) {
  const lines = Array.from({ length: count }, (_, row) => `${JSON.stringify(ROWS[shape](row))}\n`);
  writeFileSync(file, lines.join(""));
}
