export { isProgram } from "./program.ts";
export { sourceFingerprint } from "./source.ts";
