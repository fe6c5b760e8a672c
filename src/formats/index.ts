export { type Exported, type ExportOptions, exportTrajectories } from "./export.ts";
export type { ExportContext, Imported, Place, TrajectoryFormat } from "./format.ts";
export { FORMATS, formatNamed } from "./formats.ts";
export { type ImportedFile, type ImportOptions, importTrajectories } from "./import.ts";
