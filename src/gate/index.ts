export { gateJunit, gateMarkdown, showValue } from "./render.ts";
export {
  type Decision,
  GATE_EXIT,
  GATE_SCHEMA,
  type GateReport,
  gateReportSchema,
  type Reason,
} from "./report.ts";
export { type GateOptions, gate } from "./verdict.ts";
