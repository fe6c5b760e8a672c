export type { Reason } from "../runs/gate-report.ts";
export { type FurtherChecks, GATE_EXIT, type GateOptions, gate } from "./gate.ts";
export { editedFiles } from "./recount.ts";
export { gateJunit, gateMarkdown, showValue } from "./render.ts";
