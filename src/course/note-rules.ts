/**
 * What the notes of levels 1, 3, 4 and 5 have under each heading: so many words, and at least two of the
 * words without which the level is not explained.
 */

import type { SectionRule } from "./notes.ts";

export type NoteRules = Readonly<Record<string, number | SectionRule>>;

export const REINFORCE_NOTE: NoteRules = {
  "Why the sabotage runs behave differently": {
    words: 40,
    keys: [
      ...["probability", "advantage", "learning", "direction", "sign", "negative", "update"],
      ...["step", "seed", "gradient"],
    ],
  },
};

export const KL_NOTE: NoteRules = {
  "Why beta = 0 is an attractive disaster": {
    words: 40,
    keys: [
      ...["reward", "penalty", "reference", "drift", "divergence", "policy", "exploit", "hacking"],
      ...["distance", "candidate"],
    ],
  },
  "Why optimisation without a constraint drifts far away": {
    words: 40,
    keys: [
      ...["reward", "reference", "penalty", "extreme", "proxy", "optimiser", "loophole"],
      ...["distribution", "probability", "policy"],
    ],
  },
};

export const SPEC_NOTE: NoteRules = {
  "The rules I expect": {
    words: 30,
    keys: [
      ...["line", "integer", "space", "whitespace", "prefix", "digit", "zero", "sign", "number"],
      ...["final", "format"],
    ],
  },
};

export const RED_TEAM_NOTE: NoteRules = {
  "The five exploits": 5,
  "Why they worked": {
    words: 30,
    keys: [
      ...["integer", "number", "anywhere", "contains", "substring", "expected", "match"],
      ...["verifier", "scorer", "specification", "proxy"],
    ],
  },
  "The patch": {
    words: 20,
    keys: [
      ...["class", "parse", "line", "format", "whole", "exact", "strict", "reject", "prefix"],
      ...["single", "match"],
    ],
  },
  "Regression tests": {
    words: 10,
    keys: [
      ...["test", "exploit", "hack", "honest", "reject", "accept", "case", "class", "fail"],
      ...["golden"],
    ],
  },
};
