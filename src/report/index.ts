export { type VerdictReportOptions, verdictReport } from "./gate/report.ts";
export {
  findRows,
  type Inspection,
  type InspectOptions,
  inspectRun,
  type OutcomeGroup,
} from "./inspect.ts";
export { type PageOptions, readPageOptions } from "./page-options.ts";
export { report } from "./report.ts";
export type { Report, ReportOptions } from "./report-type.ts";
export { sliceRates } from "./scored/row-slices.ts";
export {
  type TrainingReport,
  type TrainingReportOptions,
  trainingReport,
} from "./training/report.ts";
