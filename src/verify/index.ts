export { makeKeys, type SealState, sealRun, sealState } from "./seal.ts";
export { type VerifyOptions, verify } from "./verify.ts";
