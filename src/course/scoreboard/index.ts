export { type Added, addWeek } from "./add.ts";
export { MIN_FAILURES, MIN_FIXES, type Review, reviewWeeks } from "./review.ts";
export { SKILL_MATRIX, SKILLS } from "./skills.ts";
export { everyWeek, sparkline, writeTrends } from "./trends.ts";
export { MAX_WEEKS, readWeeks, type Week, WRONG_ANSWERS } from "./week.ts";
