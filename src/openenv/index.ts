/** Environments by OpenEnv's protocol. */

export { type OnWarning, openPlayable, type RemotePlayable } from "./open-playable.ts";
export { type EnvironmentServerOptions, serveEnvironment } from "./server.ts";
