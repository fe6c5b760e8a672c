export type { Reason } from "../runs/gate-report.ts";
export { type Comparability, compareManifests } from "./comparability.ts";
export { type ComparedRun, type CompareOptions, type Comparison, compareRuns } from "./compare.ts";
export { type FurtherChecks, GATE_EXIT, type GateOptions, gate } from "./gate.ts";
export { ExampleCases, gateJunit } from "./junit.ts";
export { editedFiles } from "./recount.ts";
export { gateMarkdown, showValue } from "./render.ts";
export { openRowReplay, type RowReplay } from "./replay-rows.ts";
