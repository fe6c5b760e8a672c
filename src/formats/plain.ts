/** Our own trajectories.jsonl; importing it checks it and writes it anew. */

import type { JsonObject } from "../core/json.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { trajectorySchema } from "../runs/trajectory-schema.ts";
import type { TrajectoryFormat } from "./format.ts";
import { parsed } from "./parsed.ts";

export const plain: TrajectoryFormat = {
  name: "lockedroom",
  about: "trajectories.jsonl of this program, one episode a line",
  grouped: false,
  holdsFailures: false,
  missing: "nothing",
  write: ({ trajectories }) => trajectories as unknown as readonly JsonObject[],
  read(record) {
    const trajectory: Trajectory = parsed(trajectorySchema, record, "not a trajectory");
    return { trajectories: [trajectory], failures: [], foreign: 0 };
  },
};
