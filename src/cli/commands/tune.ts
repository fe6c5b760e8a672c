/** `lockedroom tune`: training files for fine-tuning on Azure and OpenAI. */

import { commandOf } from "../subcommand.ts";
import { tuneData } from "../tune-data.ts";
import { tuneImport } from "../tune-import.ts";
import { tuneValidate } from "../tune-validate.ts";

export const { help, define } = commandOf({
  command: "tune",
  description:
    "Training files for fine-tuning on Azure and OpenAI: write them from runs, check them, read them back.",
  subcommands: { data: tuneData, validate: tuneValidate, import: tuneImport },
  examples: [
    "lockedroom tune data --help",
    "lockedroom tune validate training.jsonl",
    "lockedroom tune import --help",
  ],
});
