export { importUserModule, requireFile, strayFailure, userCodeLoaded } from "./module.ts";
export { sourceFingerprint } from "./source.ts";
export { withinLimit } from "./watchdog.ts";
