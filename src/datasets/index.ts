/** The arithmetic task of the embedded data: its problems, prompts, answers and splits. */

export * from "./problems.ts";
export * from "./splits.ts";
