// One judging for bench/judge.mjs: its time, its peak memory and the hash of its verdicts.
import { createHash } from "node:crypto";
import { canonicalJson } from "../dist/core/json.js";
import { openJudge } from "../dist/judge/judge.js";
import { openJudgeCache } from "../dist/runs/judge-cache.js";
import { groups } from "./judge-groups.mjs";

const [url, count, concurrency, folder] = process.argv.slice(2);
const judge = await openJudge({
  ...{ baseUrl: url, apiKey: "none", model: "embedded-judge", endpointName: "embedded" },
  concurrency: Number(concurrency),
  cache: folder && (await openJudgeCache(folder)),
});
const hash = createHash("sha256");
let scores = 0;
const began = performance.now();
for await (const verdict of judge.judge(groups(Number(count)))) {
  scores += verdict.judgements?.length ?? 0;
  hash.update(`${canonicalJson(verdict)}\n`);
}
const seconds = (performance.now() - began) / 1000;
await judge.close();
const memory = (process.resourceUsage().maxRSS * 1024) / 1e6;
console.log(
  JSON.stringify({ seconds, scores, memory, sha256: hash.digest("hex"), ...judge.traffic }),
);
