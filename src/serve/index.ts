export type { RunningServer } from "../http/server.ts";
export { type PolicyServer, type ServerOptions, startServer } from "./server.ts";
