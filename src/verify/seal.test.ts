import { generateKeyPairSync } from "node:crypto";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { evaluate } from "../loops/eval.ts";
import { keyFingerprint, makeKeys, sealedBy, sealRun, sealState } from "./seal.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-seal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);
const OURS = { privateKey: at("ours.pem"), publicKey: at("ours.pub.pem") };
const THEIRS = { privateKey: at("theirs.pem"), publicKey: at("theirs.pub.pem") };

beforeAll(async () => {
  expect(await makeKeys(at("ours"))).toEqual(OURS);
  await makeKeys(at("theirs"));
  await evaluate({
    dataset: [{ id: "a", prompt: "Compute 1 + 1.", expected_answer: 2 }],
    completions: [{ id: "a", completion: "Final: 2" }],
    outdir: at("clean"),
  });
});

let run = "";
let made = 0;
beforeEach(() => {
  run = at(`run-${made++}`);
  cpSync(at("clean"), run, { recursive: true });
});

const edit = (name: string, from: string, to: string) => {
  const file = path.join(run, name);
  const text = readFileSync(file, "utf8");
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
};

test("a seal is valid for its key and its bytes, and the same every time", async () => {
  expect(await sealState(run, OURS.publicKey)).toBe("seal_missing");
  const file = await sealRun(run, OURS.privateKey);
  const text = readFileSync(file, "utf8");
  expect(await sealState(run, OURS.publicKey)).toBe("valid");
  await sealRun(run, OURS.privateKey);
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("a key has one fingerprint, whichever file names it", async () => {
  const print = await keyFingerprint(OURS.publicKey);
  expect(print).toMatch(/^[0-9a-f]{64}$/);
  expect(await keyFingerprint(THEIRS.publicKey)).not.toBe(print);
  expect(await sealedBy(run)).toBeUndefined();
  await sealRun(run, OURS.privateKey);
  expect(await sealedBy(run)).toBe(print);
});

test("a seal of another key is not ours, even under our name", async () => {
  const file = await sealRun(run, THEIRS.privateKey);
  expect(await sealState(run, OURS.publicKey)).toBe("seal_by_another_key");
  const seal = JSON.parse(readFileSync(file, "utf8"));
  seal.public_key = readFileSync(OURS.publicKey, "utf8");
  writeFileSync(file, JSON.stringify(seal));
  expect(await sealState(run, OURS.publicKey)).toBe("seal_invalid");
});

test.each([
  ["summary.json", '"n_pass": 1', '"n_pass": 0'],
  ["manifest.json", '"command": "eval"', '"command": "eva1"'],
  ["manifest.json", '"host": "', '"host": "x'],
  ["seal.json", '"signature": "', '"signature": "AAAA'],
  ["seal.json", "lockedroom.seal@1", "lockedroom.seal@2"],
])("an edit of %s breaks it: %s", async (name, from, to) => {
  await sealRun(run, OURS.privateKey);
  edit(name, from, to);
  expect(await sealState(run, OURS.publicKey)).toBe("seal_invalid");
});

test("an edited or unfinished run is not sealed", async () => {
  edit("results.jsonl", '"reward":1', '"reward":0');
  await expect(sealRun(run, OURS.privateKey)).rejects.toMatchObject({ kind: "data" });
  rmSync(path.join(run, "summary.json"));
  await expect(sealRun(run, OURS.privateKey)).rejects.toMatchObject({ kind: "data" });
  expect(readdirSync(run)).not.toContain("seal.json");
});

test("the private key is for its owner, never overwritten, and never in a run", async () => {
  if (process.platform !== "win32") expect(statSync(OURS.privateKey).mode & 0o777).toBe(0o600);
  await expect(makeKeys(at("ours"))).rejects.toMatchObject({ kind: "usage" });
  const inside = path.join(run, "deep", "key");
  await expect(makeKeys(inside)).rejects.toMatchObject({ kind: "usage" });
  cpSync(OURS.privateKey, path.join(run, "key.pem"));
  await expect(sealRun(run, path.join(run, "key.pem"))).rejects.toMatchObject({ kind: "usage" });
  rmSync(path.join(run, "key.pem"));
  await sealRun(run, OURS.privateKey);
  const secret = readFileSync(OURS.privateKey, "utf8").split("\n")[1] ?? "";
  expect(secret.length).toBeGreaterThan(40);
  for (const name of readdirSync(run))
    expect(readFileSync(path.join(run, name), "utf8")).not.toContain(secret.slice(-40));
});

test("keys of another kind, and what is no key, are refused without being repeated", async () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(at("ec.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(at("text.pem"), "not a key: secret words");
  for (const file of ["ec.pem", "text.pem"]) {
    const error = await sealRun(run, at(file)).catch((thrown) => thrown);
    expect(error).toMatchObject({ kind: "data", message: expect.stringContaining(file) });
    expect(`${error.message}${error.hint}`).not.toContain("secret words");
  }
  await expect(sealState(run, OURS.privateKey)).rejects.toMatchObject({ kind: "data" });
});
