export { type Added, type AddOptions, addWeek } from "./add.ts";
export { measureRun } from "./measure.ts";
export { reviewWeek } from "./review.ts";
export { MOST_SKILL, SKILL_MATRIX, SKILLS, type Skill } from "./skills.ts";
export { everyWeek, sparkline, TRENDS, trendsSvg, writeTrends } from "./trends.ts";
export {
  type Metrics,
  MOST_WEEKS,
  readWeeks,
  SCOREBOARD,
  SCOREBOARD_SCHEMA,
  type Week,
  weekFile,
  weekSchema,
} from "./week.ts";
