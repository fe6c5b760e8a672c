/** The questions of every level: those with an objective answer, and open ones. */

import { levelOf } from "../check.ts";
import { LEVEL_IDS, type LevelId } from "../level.ts";
import type { Chapter, OpenQuestion, QuizQuestion } from "../quiz.ts";
import { QUESTIONS_0_5 } from "./level-0.5.ts";
import { QUESTIONS_0 } from "./level-0.ts";
import { QUESTIONS_1 } from "./level-1.ts";
import { QUESTIONS_2 } from "./level-2.ts";
import { QUESTIONS_3 } from "./level-3.ts";
import { QUESTIONS_4 } from "./level-4.ts";
import { QUESTIONS_5 } from "./level-5.ts";
import { QUESTIONS_6 } from "./level-6.ts";
import { QUESTIONS_7 } from "./level-7.ts";

export const QUESTIONS: Readonly<Record<LevelId, readonly QuizQuestion[]>> = {
  "0": QUESTIONS_0,
  "0.5": QUESTIONS_0_5,
  "1": QUESTIONS_1,
  "2": QUESTIONS_2,
  "3": QUESTIONS_3,
  "4": QUESTIONS_4,
  "5": QUESTIONS_5,
  "6": QUESTIONS_6,
  "7": QUESTIONS_7,
};

/** The chapter behind each line of a level's checklist. */
const CHAPTERS: Readonly<Record<LevelId, readonly Chapter[]>> = {
  "0": ["11-measurement-hygiene", "13-debugging-by-class", "02-objects-not-to-confuse"],
  "0.5": ["07-selection-filtering-learning", "01-three-loops", "07-selection-filtering-learning"],
  "1": ["05-log-probs-and-signs", "06-baseline-and-advantage", "05-log-probs-and-signs"],
  "2": ["03-bandit-and-sequence", "03-bandit-and-sequence", "04-tokens-and-completions"],
  "3": ["09-kl", "12-goodhart", "09-kl"],
  "4": ["10-reward-as-specification", "11-measurement-hygiene", "10-reward-as-specification"],
  "5": ["12-goodhart", "12-goodhart", "01-three-loops"],
  "6": ["11-measurement-hygiene", "07-selection-filtering-learning", "08-frozen-rollouts"],
  "7": ["28-judges", "28-judges", "28-judges"],
};

/** The checklist of each level, with the chapter to read; only the learner can answer it. */
export const OPEN_QUESTIONS = Object.fromEntries(
  LEVEL_IDS.map((id) => [
    id,
    levelOf(id).checklist.map((ask, i) => ({ ask, chapter: CHAPTERS[id][i] as Chapter })),
  ]),
) as unknown as Readonly<Record<LevelId, readonly OpenQuestion[]>>;
