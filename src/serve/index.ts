export type { RunningServer } from "../http/running-server.ts";
export { type ScorerServer, type ScorerServerOptions, startScorerServer } from "./scorer-server.ts";
export { type PolicyServer, type ServerOptions, startServer } from "./server.ts";
