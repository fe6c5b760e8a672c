import type { Subcommand } from "./subcommand.ts";
export const tuneImport: Subcommand = { summary: "", description: "", help: "", define() {} };
