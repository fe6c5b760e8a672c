/** The questions of every level: those with an objective answer, and those to say aloud. */

import type { LevelId } from "../level.ts";
import type { OpenQuestion, QuizQuestion } from "../quiz.ts";
import { ALOUD_0_5, QUESTIONS_0_5 } from "./level-0.5.ts";
import { ALOUD_0, QUESTIONS_0 } from "./level-0.ts";
import { ALOUD_1, QUESTIONS_1 } from "./level-1.ts";
import { ALOUD_2, QUESTIONS_2 } from "./level-2.ts";
import { ALOUD_3, QUESTIONS_3 } from "./level-3.ts";
import { ALOUD_4, QUESTIONS_4 } from "./level-4.ts";
import { ALOUD_5, QUESTIONS_5 } from "./level-5.ts";
import { ALOUD_6, QUESTIONS_6 } from "./level-6.ts";

export const QUESTIONS: Readonly<Record<LevelId, readonly QuizQuestion[]>> = {
  "0": QUESTIONS_0,
  "0.5": QUESTIONS_0_5,
  "1": QUESTIONS_1,
  "2": QUESTIONS_2,
  "3": QUESTIONS_3,
  "4": QUESTIONS_4,
  "5": QUESTIONS_5,
  "6": QUESTIONS_6,
};

export const ALOUD: Readonly<Record<LevelId, readonly OpenQuestion[]>> = {
  "0": ALOUD_0,
  "0.5": ALOUD_0_5,
  "1": ALOUD_1,
  "2": ALOUD_2,
  "3": ALOUD_3,
  "4": ALOUD_4,
  "5": ALOUD_5,
  "6": ALOUD_6,
};
