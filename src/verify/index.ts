export type { PartName, Verification, VerificationPart } from "../runs/verification.ts";
export { checkSeals, type GateChecks, verifyBoth } from "./gate-checks.ts";
export { keyFingerprint, makeKeys, type SealState, sealedBy, sealRun, sealState } from "./seal.ts";
export { type VerifyOptions, verify } from "./verify.ts";
