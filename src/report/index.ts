export {
  findRow,
  type Inspection,
  type InspectOptions,
  inspectRun,
  type OutcomeGroup,
} from "./inspect.ts";
