/**
 * Seals: an ed25519 signature over the hashes of manifest.json and summary.json, which hold the hashes
 * of the run's other files. A seal says that whoever held the key vouched for these bytes. It does not
 * say that they are true.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify as verifySignature,
} from "node:crypto";
import { dataError } from "../core/errors.ts";
import { sha256 } from "../core/fingerprint.ts";
import { canonicalJson } from "../core/json.ts";
import { editedFiles } from "../gate/recount.ts";
import { SEAL_SCHEMA } from "../runs/artifacts.ts";
import { requireFinished, requireKind, SCORED } from "../runs/folder-kind.ts";
import { openRollout } from "../runs/read-rollout.ts";
import { readTrainingRun } from "../runs/read-training-run.ts";
import { openRun } from "../runs/reader.ts";
import {
  readKey,
  readSeal,
  refuseExistingKey,
  refuseInsideRun,
  type Seal,
  signedHashes,
  writeKey,
  writeSeal,
} from "../runs/seal-record.ts";

/** Signs a finished run whose files are as it wrote them; gives the path of its seal. */
export async function sealRun(dir: string, keyFile: string): Promise<string> {
  await refuseInsideRun(keyFile);
  const privateKey = await privateKeyIn(keyFile);
  const edited = await editedIn(dir);
  if (edited.length > 0)
    throw dataError(
      `the run ${dir} was edited after it was written: ${edited.join(", ")}`,
      "Make it again, and seal that.",
    );
  const signed = await signedHashes(dir);
  return writeSeal(dir, {
    schema: SEAL_SCHEMA,
    algorithm: "ed25519",
    public_key: pemOf(createPublicKey(privateKey)),
    signed,
    signature: sign(null, messageFor(signed), privateKey).toString("base64"),
  });
}

/** Files of a finished run that are not as it wrote them. */
export async function editedIn(dir: string): Promise<readonly string[]> {
  const content = await requireKind(dir, [...SCORED, "rollout", "train"]);
  requireFinished(dir, content);
  if (content.kind === "train") return (await readTrainingRun(dir)).edited;
  if (content.kind === "rollout") return (await openRollout(dir)).editedFiles();
  return editedFiles(await openRun(dir));
}

/** The name of the schema keeps a signature of something else from passing for a seal. */
function messageFor(signed: Seal["signed"]): Buffer {
  return Buffer.from(`${SEAL_SCHEMA}\n${canonicalJson(signed)}`);
}

export interface KeyFiles {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** Makes a pair of keys: NAME.pem, which only its owner may read, and NAME.pub.pem to give away. */
export async function makeKeys(name: string): Promise<KeyFiles> {
  const files = { privateKey: `${name}.pem`, publicKey: `${name}.pub.pem` };
  await refuseInsideRun(files.privateKey);
  refuseExistingKey(files.publicKey);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  await writeKey(files.privateKey, pem, 0o600);
  await writeKey(files.publicKey, pemOf(publicKey), 0o644);
  return files;
}

export type SealState = "valid" | "seal_missing" | "seal_invalid" | "seal_by_another_key";

/** Whether the run has a seal of this public key, and of the files that are there now. */
export async function sealState(dir: string, publicKeyFile: string): Promise<SealState> {
  const wanted = await publicKeyIn(publicKeyFile);
  let seal: Seal | undefined;
  try {
    seal = await readSeal(dir);
  } catch {
    return "seal_invalid";
  }
  if (!seal) return "seal_missing";
  if (!isOf(seal, wanted)) return "seal_by_another_key";
  const now = await signedHashes(dir);
  const current = canonicalJson(now) === canonicalJson(seal.signed);
  const signature = Buffer.from(seal.signature, "base64");
  return current && verifySignature(null, messageFor(now), wanted, signature)
    ? "valid"
    : "seal_invalid";
}

/** By the key itself, whatever its text looks like. */
function isOf(seal: Seal, wanted: KeyObject): boolean {
  return keyOf(seal)?.equals(wanted) ?? false;
}

function keyOf({ public_key: pem }: Seal): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** SHA-256 of a public key, by which people and reports name it. */
export async function keyFingerprint(publicKeyFile: string): Promise<string> {
  return fingerprintOf(await publicKeyIn(publicKeyFile));
}

/** The fingerprint of the key that a run's seal names, whether or not the seal is valid. */
export async function sealedBy(dir: string): Promise<string | undefined> {
  const seal = await readSeal(dir).catch(() => undefined);
  const key = seal && keyOf(seal);
  return key && fingerprintOf(key);
}

function fingerprintOf(key: KeyObject): string {
  return sha256(key.export({ type: "spki", format: "der" }));
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }) as string;
}

/** No message of the crypto library is passed on: it could repeat a part of the file. */
async function privateKeyIn(file: string): Promise<KeyObject> {
  const pem = await readKey(file);
  return ed25519(file, "private", () => createPrivateKey(pem));
}

async function publicKeyIn(file: string): Promise<KeyObject> {
  const pem = await readKey(file);
  // A public key can be made of a private one; whoever checks seals should not have that.
  const isPrivate = /PRIVATE KEY/.test(pem);
  return ed25519(file, "public", () => (isPrivate ? undefined : createPublicKey(pem)));
}

function ed25519(file: string, kind: string, read: () => KeyObject | undefined): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = read();
  } catch {
    // Not a key, or one with a password.
  }
  if (key?.asymmetricKeyType === "ed25519") return key;
  throw dataError(
    `${file} is no ${kind} ed25519 key in PEM form`,
    "Make a pair of keys with seal --new-key NAME.",
  );
}
