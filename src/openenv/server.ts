/** Serves an environment by OpenEnv's routes on 127.0.0.1. */

import { z } from "zod";
import { SPLITS, type Split } from "../core/environment.ts";
import type { JsonObject } from "../core/json.ts";
import type { OpenedEnvironment } from "../environments/open.ts";
import { type App, addRoute, type Handler } from "../http/app.ts";
import { readJson } from "../http/body.ts";
import { HttpError } from "../http/errors.ts";
import type { RunningServer } from "../http/running-server.ts";
import { startHttpServer } from "../http/server.ts";
import { answerMcp } from "./mcp.ts";
import { metadataOf, openApi, schemasOf } from "./schemas.ts";
import { RefusedAction, Session } from "./session.ts";
import { type SessionLimits, SessionTable } from "./sessions.ts";
import { Sockets, withMetadata } from "./socket.ts";

export interface EnvironmentServerOptions extends Partial<SessionLimits> {
  readonly environment: OpenedEnvironment;
  /** 0 takes a free one. */
  readonly port: number;
  readonly onBug?: (error: unknown) => void;
}

const MAX_SESSIONS = 64;
const IDLE_MS = 10 * 60 * 1000;

export async function serveEnvironment({
  environment,
  port,
  maxSessions = MAX_SESSIONS,
  idleMs = IDLE_MS,
  onBug = () => {},
}: EnvironmentServerOptions): Promise<RunningServer> {
  const { definition } = environment;
  const sessions = new SessionTable(definition, { maxSessions, idleMs });
  const sockets = new Sockets({ definition, sessions, maxSessions, onBug });
  return startHttpServer({
    port,
    onBug,
    errorBody: ({ message, details }) => ({ detail: message, code: details.code ?? null }),
    addRoutes: (app) => {
      addEpisodeRoutes(app, environment, sessions);
      addTaskRoutes(app, environment);
    },
    onUpgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    stop: async () => {
      sockets.close();
      sessions.closeAll();
    },
  });
}

const STEP = z.looseObject({ action: z.unknown() });

function addEpisodeRoutes(app: App, environment: OpenedEnvironment, sessions: SessionTable): void {
  const { definition } = environment;
  // Each call has an episode of its own, as in OpenEnv; several turns need the socket.
  addRoute(app, "/reset", {
    POST: answer((body) => withMetadata(new Session(definition).reset(body))),
  });
  addRoute(app, "/step", {
    POST: answer((body) => withMetadata(new Session(definition).step(STEP.parse(body).action))),
  });
  addRoute(app, "/state", { GET: (c) => c.json(new Session(definition).state()) });
  addRoute(app, "/health", { GET: (c) => c.json({ status: "healthy" }) });
  addRoute(app, "/metadata", { GET: (c) => c.json(metadataOf(environment)) });
  addRoute(app, "/schema", { GET: (c) => c.json(schemasOf()) });
  addRoute(app, "/openapi.json", { GET: (c) => c.json(openApi(environment)) });
  addRoute(app, "/mcp", {
    POST: answer((body) =>
      answerMcp(body, definition, {
        create: () => sessions.open(),
        find: (id) => (id === undefined ? new Session(definition) : sessions.find(id)),
        close: (id) => sessions.close(id),
      }),
    ),
  });
}

const WANTED = z.looseObject({
  split: z.string().default("train"),
  index: z.int().min(0).default(0),
  start: z.int().min(0).nullish(),
  stop: z.int().min(0).nullish(),
});

function addTaskRoutes(app: App, { definition }: OpenedEnvironment): void {
  const { name } = definition;
  const of = (path: string, reply: (wanted: z.output<typeof WANTED>) => JsonObject) =>
    addRoute(app, `/${name}/${path}`, { POST: answer((body) => reply(WANTED.parse(body))) });
  const tasks = (split: string) => {
    if (!SPLITS.includes(split as Split)) throw new HttpError(404, `there is no split ${split}`);
    return definition.tasks(split as Split).map(({ id, prompt }) => ({ id, prompt }));
  };
  addRoute(app, "/list_environments", { GET: (c) => c.json([name]) });
  addRoute(app, `/${name}/splits`, {
    GET: (c) => c.json(SPLITS.map((split) => ({ name: split, type: TYPES[split] }))),
  });
  of("tasks", ({ split }) => ({ tasks: tasks(split), env_name: name }));
  of("num_tasks", ({ split }) => ({ num_tasks: tasks(split).length }));
  of("task", ({ split, index }) => {
    const task = tasks(split)[index];
    if (!task) throw new HttpError(400, `${split} has no task with index ${index}`);
    return { task };
  });
  of("task_range", ({ split, start, stop }) => ({
    tasks: tasks(split).slice(start ?? 0, stop ?? undefined),
  }));
}

const TYPES: Readonly<Record<Split, string>> = {
  train: "train",
  dev: "validation",
  holdout: "test",
};

/** A handler of JSON; what the client did wrong becomes a 422 or 400 with a sentence. */
function answer(reply: (body: unknown) => JsonObject): Handler {
  return async (c) => {
    const body = await readJson(c.req.raw);
    try {
      return c.json(reply(body));
    } catch (error) {
      if (error instanceof z.ZodError) throw new HttpError(422, z.prettifyError(error));
      if (error instanceof RefusedAction) throw new HttpError(400, error.message);
      throw error;
    }
  };
}
