import type { Subcommand } from "./subcommand.ts";
export const tuneData: Subcommand = { summary: "", description: "", help: "", define() {} };
