/** Environments by OpenEnv's protocol. */

export { type EnvironmentServerOptions, serveEnvironment } from "./server.ts";
