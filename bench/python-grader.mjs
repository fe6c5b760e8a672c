// `npm run bench:python`: rows that a python grader grades in a second once its sandbox has started.
import { openGrader, readGraderFile, sampleOf } from "../dist/graders/index.js";

const ROWS = process.env.LOCKEDROOM_BENCH_SMALL ? 1000 : 10_000;
const LIMIT = 200;
const SOURCE = `import re
def grade(sample, item):
    found = re.findall(r"-?\\d+", sample["output_text"])
    return 1.0 if found and int(found[-1]) == item["expected_answer"] else 0.0`;

const { grader, settings } = readGraderFile(
  { type: "python", name: "right", source: SOURCE },
  "bench",
);
const opened = await openGrader(grader, settings, "bench");
try {
  const began = performance.now();
  await opened.ready();
  console.log(`     the sandbox starts in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const rows = Array.from({ length: ROWS }, (_, i) => i);
  const from = performance.now();
  const graded = await Promise.all(
    rows.map((i) =>
      opened.grade({ item: { expected_answer: i }, sample: sampleOf(`Final: ${i - (i % 2)}`) }),
    ),
  );
  const rate = Math.round(ROWS / ((performance.now() - from) / 1000));
  const right = graded.filter(({ reward }) => reward === 1).length;
  if (right !== ROWS / 2) throw new Error(`${right} of ${ROWS} rows are right, not half of them`);
  const over = rate < LIMIT;
  if (over) process.exitCode = 1;
  console.log(`${over ? "SLOW" : "ok  "} a python grader: ${rate} rows a second  limit ${LIMIT}`);
} finally {
  await opened.close();
}
