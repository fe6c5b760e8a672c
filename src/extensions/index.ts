export { sourceFingerprint } from "./source.ts";
