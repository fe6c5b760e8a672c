/** `openenv:URL#settings`: where somebody else's environment is, and how it is to be played. */

import { usageError } from "../core/errors.ts";

const PREFIX = "openenv:";

/** The part behind `#` is never sent: it is ours. */
export interface RemoteSettings {
  /** How long one answer of the server may take. */
  readonly seconds: number;
  /** Episodes that are open at once. */
  readonly sessions: number;
  /** An episode that is not over after so many turns is cut short. */
  readonly turns: number;
  /** The most tasks of a split. */
  readonly tasks: number | undefined;
  /** The reward of an answer that is no action of the environment; none unless given. */
  readonly invalid: number | null;
  /** What a solved episode is: a least reward, or the codes that the server gives. */
  readonly solved: number | readonly string[] | undefined;
}

export interface RemoteAddress {
  /** Without a slash at its end. */
  readonly url: string;
  readonly settings: RemoteSettings;
  /** What somebody should know before anything is sent there. */
  readonly warning: string | undefined;
}

export function isRemote(given: string): boolean {
  return given.startsWith(PREFIX);
}

const EXAMPLE = "An example: openenv:http://127.0.0.1:8000";

export function readAddress(given: string): RemoteAddress {
  const url = parsedUrl(given.slice(PREFIX.length));
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageError(`${given} has no http or https address after "${PREFIX}"`, `${EXAMPLE}.`);
  }
  if (url.username || url.password) {
    throw usageError(
      `the address of ${url.host} has a user name or password, which manifests would record`,
      "Leave it out: keys are not supported.",
    );
  }
  if (url.search) {
    throw usageError(
      `${given} has a query ("?…")`,
      `Settings stand behind "#". ${EXAMPLE}#turns=50`,
    );
  }
  const settings = readSettings(url.hash.slice(1));
  const plain = url.protocol === "http:" && !LOOPBACK.test(url.hostname);
  return {
    url: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
    settings,
    warning: plain
      ? `${url.host} is reached by http: whoever is on the way can read and change what is sent, rewards included. Use https where the server has it.`
      : undefined,
  };
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

type Reader<K extends keyof RemoteSettings> = (text: string, name: string) => RemoteSettings[K];

const READERS: { readonly [K in keyof RemoteSettings]: Reader<K> } = {
  seconds: (text, name) => positive(text, name, 3600),
  sessions: (text, name) => positive(text, name, 10_000),
  turns: (text, name) => positive(text, name, 1_000_000),
  tasks: (text, name) => positive(text, name, 1_000_000),
  invalid: finite,
  solved: (text, name) => (/^[-+.\d]/.test(text) ? finite(text, name) : codes(text, name)),
};

const DEFAULTS: RemoteSettings = {
  ...{ seconds: 60, sessions: 64, turns: 200 },
  ...{ tasks: undefined, invalid: null, solved: undefined },
};

function readSettings(fragment: string): RemoteSettings {
  const given = [...new URLSearchParams(fragment)].map(([name, text]) => {
    if (!Object.hasOwn(READERS, name)) {
      throw usageError(
        `there is no setting "${name}" of an OpenEnv address`,
        `Choose of ${Object.keys(READERS).join(", ")}.`,
      );
    }
    return [name, READERS[name as keyof RemoteSettings](text, name)];
  });
  return { ...DEFAULTS, ...Object.fromEntries(given) };
}

function positive(text: string, name: string, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw usageError(
    `${name}=${text} is not a whole number from 1 to ${most}`,
    "Correct the address.",
  );
}

function finite(text: string, name: string): number {
  const value = Number(text);
  if (text !== "" && Number.isFinite(value)) return value;
  throw usageError(`${name}=${text} is not a number`, "Correct the address.");
}

function codes(text: string, name: string): readonly string[] {
  const list = text.split(",").filter((code) => code !== "");
  if (list.length > 0) return list;
  throw usageError(`${name} is empty`, "Give a least reward or outcome codes.");
}
