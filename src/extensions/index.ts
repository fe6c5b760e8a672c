export { importUserModule, requireFile } from "./module.ts";
export { sourceFingerprint } from "./source.ts";
export { withinLimit } from "./watchdog.ts";
