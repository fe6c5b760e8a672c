/** What each format holds in fields of its own, without the part that only this program reads. */

import { expect, test } from "vitest";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { art } from "./art.ts";
import { atif } from "./atif.ts";
import { OWN, type TrajectoryFormat } from "./format.ts";
import { difference } from "./json-patch.ts";
import { openenv } from "./openenv.ts";
import { called, calledNatively, game } from "./scripted.contract.ts";
import { trl, trlMessages } from "./trl.ts";
import { verifiers } from "./verifiers.ts";

const context = { tools: [], environment: null, policy: null, version: "0.0.0" };

function withoutOwn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwn);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([key]) => key !== OWN);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutOwn(member)]));
}

/** The fields that do not come back, with numbers of places as `*`. */
function lost(format: TrajectoryFormat, ...trajectories: Trajectory[]): string[] {
  const fields = trajectories.flatMap((trajectory) => {
    const group = { id: trajectory.id, trajectories: [trajectory], failures: [] };
    const [record] = format.write(group, context);
    const alone = withoutOwn(JSON.parse(canonicalJson(record))) as JsonObject;
    const { trajectories: back, foreign } = format.read(alone, { line: 1, nextSample: () => 0 });
    expect(foreign).toBe(1);
    return difference(back[0] as unknown as Json, trajectory as unknown as Json);
  });
  return [...new Set(fields.map(({ path }) => path.replaceAll(/\/\d+/g, "/*")))].sort();
}

const episodes = [called(3), calledNatively(9), game()];

test.each([
  [
    "art",
    art,
    ["/address", "/messages/*/reward", "/messages/*/sampled/prompt_tokens", "/segments"],
  ],
  ["verifiers", verifiers, ["/address", "/messages/*/reward"]],
  ["atif", atif, ["/address"]],
])("%s keeps everything but a few fields", (_name, format, fields) => {
  const [inRows] = episodes;
  expect(lost(format, inRows as Trajectory, game())).toEqual(fields);
});

test("art has no number of tokens where there are no log-probs", () => {
  expect(lost(art, calledNatively(9))).toContain("/messages/*/sampled/completion_tokens");
});

test("openenv has a place for the outcome, and none for samples", () => {
  expect(lost(openenv, ...episodes)).toEqual([
    "/address",
    "/messages/*/reward",
    ...["completion_tokens", "finish", "logprobs", "prompt_tokens", "token_ids"].map(
      (name) => `/messages/*/sampled/${name}`,
    ),
    "/segments",
  ]);
});

test.each([
  ["trl", trl],
  ["trl-messages", trlMessages],
])("%s has conversation, reward and outcome code", (_name, format) => {
  const fields = lost(format, ...episodes);
  for (const kept of ["/messages/*/content", "/messages/*/tool_calls", "/reward", "/code", "/id"])
    expect(fields).not.toContain(kept);
  expect(fields).toContain("/terminated");
  expect(fields).toContain("/logs");
});

test("a native call is said once: in tool_calls, not in the text as well", () => {
  const episode = calledNatively(9);
  for (const format of [art, verifiers, openenv, atif, trl, trlMessages]) {
    const group = { id: episode.id, trajectories: [episode], failures: [] };
    const [record] = format.write(group, context);
    const turns = JSON.stringify(withoutOwn(record));
    expect(turns).toContain("call_1");
    expect(turns).not.toContain(JSON.stringify(episode.messages[1]?.content).slice(1, -1));
  }
});
