export {
  answerFile,
  answerTo,
  DIAGNOSES,
  type DiagnosisAnswer,
  isDiagnosed,
  keepAnswer,
  markDiagnosis,
  readAnswers,
} from "./answers.ts";
export { type CurveRun, caseCount, type DiagnoseCase, openCase } from "./case.ts";
export {
  ABLATION_NAMES,
  ABLATIONS,
  type Ablation,
  CAUSE_NAMES,
  CAUSES,
  type CauseName,
} from "./causes.ts";
export { curvesOf, curvesSvg, type ShownCurve } from "./chart.ts";
