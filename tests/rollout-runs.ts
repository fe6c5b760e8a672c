/** What the tests of `rollout` share: its arguments, a run that must succeed, and its files. */

import { expect } from "vitest";
import { describeRun, EXIT, type Workspace } from "./cli.ts";
import type { FakeEndpoint } from "./endpoint.ts";

export const args = (...flags: string[]) => {
  const named = (flag: string, value: string) => (flags.includes(flag) ? [] : [flag, value]);
  return [
    "rollout",
    ...named("--policy", "openai:tiny"),
    ...named("--dataset", "d.jsonl"),
    ...named("--n", "1"),
    ...named("--outdir", "r"),
    ...flags,
  ];
};

export async function made(workspace: Workspace, endpoint: FakeEndpoint, ...flags: string[]) {
  const result = await workspace.run(args(...flags), endpoint);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
  return result;
}

export const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** The files of a rollout, without the facts of the occasion. */
export function fixedFiles(workspace: Workspace, folder = "r"): Record<string, string> {
  const { "manifest.json": manifest = "{}", ...files } = workspace.snapshot(folder);
  return { ...files, manifest: JSON.stringify({ ...JSON.parse(manifest), volatile: null }) };
}

export const DONE = [
  "README.md",
  "completions.jsonl",
  "completions.provenance.json",
  "manifest.json",
  "summary.json",
];
