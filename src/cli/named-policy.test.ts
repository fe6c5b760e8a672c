/** A policy by the name that --policy gives it: an alias of an endpoint is bound to that endpoint. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { checkpointFolder } from "../policy/pi0.ts";
import { aliasPlace } from "../runs/alias-history.ts";
import { promote } from "../verify/promote.ts";
import { namedPolicy } from "./named-policy.ts";
import { openPolicy } from "./open-policy.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-named-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const place = aliasPlace(path.join(root, "hosted"));
const given = `alias:${place.dir}`;
const flags = {
  ...{ policy: given, temperature: 1, topK: 0, topP: 1, maxTokens: 1, seed: 0, concurrency: 1 },
};

beforeEach(() => {
  vi.stubEnv("OPENAI_API_KEY", "none");
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
});
afterEach(() => vi.unstubAllEnvs());

test("pi0 is named, not its folder; a checkpoint is known by its content", async () => {
  const { source, identity } = await namedPolicy("pi0");
  expect(source).toBe("pi0");
  expect(identity).toEqual({
    kind: "checkpoint",
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("an alias of a model is that model at that endpoint, and nowhere else", async () => {
  const policy = await namedPolicy("openai:tiny");
  await promote({ place, policy, force: true, reason: "first" });
  expect(await namedPolicy(given)).toEqual(policy);
  const opened = await openPolicy(flags, undefined, () => {});
  expect(opened.identity).toEqual(policy.identity);
  expect(() => checkpointFolder(given)).toThrow(/an endpoint, and a checkpoint is needed here/);
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:10/v1");
  await expect(openPolicy(flags, undefined, () => {})).rejects.toThrow(/and the endpoint here is/);
});
