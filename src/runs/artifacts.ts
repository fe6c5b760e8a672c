/** The names and schema versions of a run's files. */

export const MANIFEST_SCHEMA = "lockedroom.manifest@1";
export const SUMMARY_SCHEMA = "lockedroom.summary@1";
export const PROVENANCE_SCHEMA = "lockedroom.provenance@1";
export const ROLLOUT_SCHEMA = "lockedroom.rollout@1";
export const ROLLOUT_SUMMARY_SCHEMA = "lockedroom.rollout-summary@1";
export const JOURNAL_SCHEMA = "lockedroom.rollout-journal@1";
export const LEDGER_SCHEMA = "lockedroom.rollout-ledger@1";
export const PAIRS_SCHEMA = "lockedroom.pairs@1";
export const PAIRS_SUMMARY_SCHEMA = "lockedroom.pairs-summary@1";
export const REVIEW_SCHEMA = "lockedroom.review@1";
export const REVIEW_SUMMARY_SCHEMA = "lockedroom.review-summary@1";
export const TRAIN_SCHEMA = "lockedroom.train@1";
export const TRAIN_SUMMARY_SCHEMA = "lockedroom.train-summary@1";
export const VERIFICATION_SCHEMA = "lockedroom.verification@1";
export const SEAL_SCHEMA = "lockedroom.seal@1";
export const JUDGE_AUDIT_MANIFEST_SCHEMA = "lockedroom.judge-audit-manifest@1";
export const JUDGE_AUDIT_SUMMARY_SCHEMA = "lockedroom.judge-audit-summary@1";
export const JUDGE_AUDIT_SCHEMA = "lockedroom.judge-audit@1";
export const ALIAS_ENTRY_SCHEMA = "lockedroom.alias-entry@1";

export const MANIFEST = "manifest.json";
export const RESULTS = "results.jsonl";
/** Written last: its presence means done. */
export const SUMMARY = "summary.json";
export const SUMMARY_TEXT = "summary.md";
export const NOTE = "README.md";
/** What was made again of a finished run, and who vouches for it; no part of the run itself. */
export const VERIFICATION = "verification.json";
export const SEAL = "seal.json";
/** Says which process is writing which kind of run. */
export const RUNNING = ".running";
/** Ends the name of a file until its run is finished. */
export const TEMPORARY = ".partial";

/** What a rollout makes: one answer for each example, or several. */
export const COMPLETIONS = "completions.jsonl";
export const SAMPLES = "samples.jsonl";
/** What a rollout in an environment makes: its episodes, and those that failed. */
export const TRAJECTORIES = "trajectories.jsonl";
export const FAILURES = "failures.jsonl";
/** What a judge answered about each group, and the groups without a verdict. */
export const JUDGEMENTS = "judgements.jsonl";
export const DROPPED = "dropped.jsonl";
/** A rollout's answers in the order they arrived; removed when the rollout is finished. */
export const JOURNAL = "journal.jsonl";
/** In a checkpoint folder: the rollouts of its policy, a line for each. */
export const LEDGER = "rollouts.jsonl";

/** The folder of policy aliases, one folder for each. */
export const ALIASES = "aliases";

export const PAIRS = "pairs.jsonl";
export const LABELS = "labels.jsonl";

/** What an audit of a judge found. */
export const AUDIT = "audit.json";

/** What a training run writes line by line, besides samples.jsonl. */
export const METRICS = "metrics.jsonl";
export const EVALUATIONS = "evaluations.jsonl";
export const ALARMS = "alarms.jsonl";
export const TIMING = "timing.jsonl";
/** The hashes of its saved states, in a chain. */
export const STATES = "states.jsonl";
/** The samples that rejection sampling learns from. */
export const KEPT = "kept.jsonl";
/** The initial policy's episodes on the validation tasks, which a judge compares later ones with. */
export const BASELINE = "baseline.jsonl";
/** The folder from which a training run is resumed; removed when it is finished. */
export const STATE = "state";
