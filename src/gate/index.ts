export { editedFiles } from "./edited.ts";
export { gateJunit, gateMarkdown, showValue } from "./render.ts";
export { GATE_EXIT, type GateOptions, gate } from "./verdict.ts";
