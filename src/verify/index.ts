export type { LocatedPolicy } from "../runs/aliased-policy.ts";
export type { PartName, Verification, VerificationPart } from "../runs/verification.ts";
export { checkSeals, type GateChecks, verifyBoth } from "./gate-checks.ts";
export {
  type PromoteOptions,
  promote,
  type RollbackOptions,
  rollback,
} from "./promote.ts";
export { keyFingerprint, makeKeys, type SealState, sealedBy, sealRun, sealState } from "./seal.ts";
export { type VerifyOptions, verify } from "./verify.ts";
