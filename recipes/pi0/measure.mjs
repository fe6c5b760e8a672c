// `node recipes/pi0/measure.mjs`: measures the embedded policy on the dev set.
import {
  DEV,
  fixed,
  measure,
  PI0,
  passAt,
  passRate,
  publish,
  readJson,
  select,
  table,
} from "../lib.mjs";

const scored = measure("pi0/dev", PI0, DEV);
const chosen = select("pi0/dev", PI0, DEV);
const { counts } = readJson(scored, "summary.json").outcomes;
const figures = {
  pass_at_1: passRate(scored),
  pass_at_1_unbiased: passAt(chosen, 1),
  pass_at_8: passAt(chosen, 8),
  outcomes: Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
};
const three = fixed(3);
publish(
  import.meta.url,
  figures,
  table(
    ["dev, temperature 1", "measured", "goal"],
    [
      ["pass@1, one sample", three(figures.pass_at_1), "0.25 to 0.45"],
      ["pass@1, of eight samples", three(figures.pass_at_1_unbiased), "0.25 to 0.45"],
      ["pass@8", three(figures.pass_at_8), "at least 0.85"],
      ["outcome codes", Object.keys(figures.outcomes).length, "at least 6"],
    ],
  ),
);
