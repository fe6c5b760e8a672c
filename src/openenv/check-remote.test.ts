import { expect, test } from "vitest";
import { openEnvironment } from "../environments/open.ts";
import { checkRemote } from "./check-remote.ts";
import { openRemote } from "./open-playable.ts";
import { serveEnvironment } from "./server.ts";

async function findingsOf(name: string, settings = "") {
  const environment = await openEnvironment(name);
  const server = await serveEnvironment({ environment, port: 0, maxSessions: 1 });
  const opened = await openRemote(`openenv:${server.url}${settings}`, () => {});
  const findings = await checkRemote(opened, { tasks: 2, seed: 0 });
  await opened.close();
  await server.close();
  return new Map(findings.map(({ id, passed }) => [id, passed]));
}

test("a sound server passes, what it cannot show is left open", async () => {
  const found = await findingsOf("twenty48");
  expect([...found.values()].filter((passed) => passed === false)).toEqual([]);
  expect(found.get("runtime.seed_control")).toBe(true);
  expect(found.get("semantic.canary_floor")).toBe(true);
  expect(found.get("semantic.oracle_max")).toBeNull();
});

test("one that any answer solves does not", async () => {
  const found = await findingsOf("boat-race", "#solved=unreadable");
  expect(found.get("semantic.canary_floor")).toBe(false);
});
