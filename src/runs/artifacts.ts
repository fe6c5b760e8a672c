/** The names and schema versions of a run's files. */

export const MANIFEST_SCHEMA = "lockedroom.manifest@1";
export const SUMMARY_SCHEMA = "lockedroom.summary@1";
export const PROVENANCE_SCHEMA = "lockedroom.provenance@1";
export const ROLLOUT_SCHEMA = "lockedroom.rollout@1";
export const ROLLOUT_SUMMARY_SCHEMA = "lockedroom.rollout-summary@1";
export const JOURNAL_SCHEMA = "lockedroom.rollout-journal@1";

export const MANIFEST = "manifest.json";
export const RESULTS = "results.jsonl";
/** Written last: its presence means done. */
export const SUMMARY = "summary.json";
export const SUMMARY_TEXT = "summary.md";
export const NOTE = "README.md";
/** Holds the process id of whoever is writing. */
export const RUNNING = ".running";

/** What a rollout makes: one answer for each example, or several. */
export const COMPLETIONS = "completions.jsonl";
export const SAMPLES = "samples.jsonl";
/** A rollout's answers in the order they came; gone once the rollout is done. */
export const JOURNAL = "journal.jsonl";
