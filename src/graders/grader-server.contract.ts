/** Graders that ask a server, with servers on real sockets. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openJudgeCache } from "../runs/judge-cache.ts";
import { readGrader } from "./grader-schema.ts";
import { setGraderHost } from "./host.ts";
import { openGrader } from "./open-grader.ts";
import { sampleOf } from "./sample.ts";
import { settingsSchema } from "./settings.ts";

/** What has to be ended after a test. */
export const ends: (() => unknown)[] = [];

/** For after each test. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0)) await end();
  setGraderHost({});
}

type Answer = (body: Record<string, unknown>, response: ServerResponse, call: number) => void;

/** A server on a real socket; `answer` writes the response. */
export async function serve(answer: Answer) {
  const seen: { body: Record<string, unknown>; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    seen.push({ body, headers: request.headers });
    answer(body, response, seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen };
}

export const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};
export const chat = (response: ServerResponse, message: object, finish_reason = "stop") =>
  json(response, {
    choices: [{ index: 0, finish_reason, message: { role: "assistant", ...message } }],
    usage: { prompt_tokens: 11, completion_tokens: 7 },
  });

export const KEY = "sk-secret-of-the-judge";

export async function graded(grader: object, sample = "fine", { settings = {} } = {}) {
  const all = { ...settingsSchema.parse({}), ...settings };
  const opened = await openGrader(readGrader(grader, "g.json"), all, "g.json");
  ends.push(() => opened.close?.());
  return opened.grade({ item: { id: "i1", answer: "42" }, sample: sampleOf(sample) });
}

export function judgeAt(url: string, folder?: string): void {
  setGraderHost({
    models: {
      endpoint: async () => ({ apiKey: KEY, baseUrl: `${url}/v1`, attempts: 2, backoffMs: 1 }),
      cache: async () => (folder === undefined ? undefined : openJudgeCache(folder)),
    },
  });
}
