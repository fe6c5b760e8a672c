import type { TrainingRunRecords } from "../../runs/read-training-run.ts";
import type { Named } from "../page/run-names.ts";

export type NamedRun = Named<TrainingRunRecords>;
