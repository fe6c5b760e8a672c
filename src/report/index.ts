export {
  findRow,
  type Inspection,
  type InspectOptions,
  inspectRun,
  type OutcomeGroup,
} from "./inspect.ts";
export {
  type TrainingReport,
  type TrainingReportOptions,
  trainingReport,
} from "./training/report.ts";
