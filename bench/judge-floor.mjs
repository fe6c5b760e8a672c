// The floor of bench/judge.mjs: the same requests by a bare fetch loop, whose answers are only parsed.
import { groupRequest } from "../dist/judge/group-request.js";
import { DEFAULT_RUBRIC } from "../dist/judge/rubric.js";
import { groups } from "./judge-groups.mjs";

const [url, count, concurrency] = process.argv.slice(2);
const source = groups(Number(count));
let scores = 0;

async function worker() {
  for (const { attempts, tools } of source) {
    const { system, user } = groupRequest(attempts, { rubric: DEFAULT_RUBRIC, tools });
    const response = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer none" },
      body: JSON.stringify({
        model: "embedded-judge",
        messages: [
          { role: "system", content: system },
          { role: "user", content: user },
        ],
        ...{ temperature: 0, top_p: 1, max_tokens: 4096, seed: 0 },
      }),
    });
    const { choices } = await response.json();
    scores += JSON.parse(choices[0].message.content).scores.length;
  }
}

const began = performance.now();
await Promise.all(Array.from({ length: Number(concurrency) }, worker));
const seconds = (performance.now() - began) / 1000;
const memory = (process.resourceUsage().maxRSS * 1024) / 1e6;
console.log(JSON.stringify({ seconds, scores, memory, requests: Number(count) }));
