/** Draws a line chart over named places on the x axis, with every value written beside its point. */

import { element, frame, paint, px, textWidth, words } from "./svg.mjs";

const PLOT = { left: 62, right: 24, top: 64, bottom: 62, width: 690, height: 430, inset: 22 };
const TICK = { size: 12.5, leading: 16, role: "muted" };
const LABEL = { size: 13.5, leading: 18 };
const LOOKS = [
  { colour: "c0", dashes: undefined, side: -1 },
  { colour: "c1", dashes: "8 4", side: 1 },
];

export function drawChart(chart) {
  const { x, y, series } = chart;
  const bottom = PLOT.height - PLOT.bottom;
  const room = PLOT.width - PLOT.left - PLOT.right - 2 * PLOT.inset;
  const across = (i) => PLOT.left + PLOT.inset + (room * i) / (x.names.length - 1);
  const up = (value) =>
    bottom - PLOT.inset - ((bottom - PLOT.top - PLOT.inset) * (value - y.low)) / (y.high - y.low);
  const middle = (PLOT.top + bottom) / 2;
  return frame(
    chart,
    PLOT.width,
    PLOT.height,
    legend(series),
    ...ticks(y).flatMap((tick) => grid(tick, up(tick))),
    ...x.names.map((name, i) => words([name], across(i), bottom + 14, TICK)),
    words([x.label], PLOT.left + (PLOT.width - PLOT.left - PLOT.right) / 2, bottom + 40, LABEL),
    element(
      "g",
      { transform: `rotate(-90 16 ${px(middle)})` },
      words([y.label], 16, middle, LABEL),
    ),
    ...series.map(({ values }, place) => drawLine(values, across, up, LOOKS[place])),
  );
}

function ticks({ low, high }) {
  return Array.from({ length: 6 }, (_, i) => low + ((high - low) * i) / 5);
}

function grid(value, y) {
  const line = {
    d: `M${PLOT.left} ${px(y)}H${PLOT.width - PLOT.right}`,
    ...paint({ stroke: "grid" }),
  };
  return [
    element("path", line),
    words([value.toFixed(1)], PLOT.left - 8, y, { ...TICK, anchor: "end" }),
  ];
}

function drawLine(values, across, up, { colour, dashes, side }) {
  const spots = values.map((value, i) => [px(across(i)), px(up(value))]);
  const line = { "stroke-width": 2, "stroke-dasharray": dashes, "stroke-linejoin": "round" };
  return [
    element("path", {
      d: `M${spots.map((spot) => spot.join(" ")).join("L")}`,
      ...paint({ stroke: colour }),
      ...line,
    }),
    ...spots.map(([cx, cy]) =>
      element("circle", { cx, cy, r: 4, ...paint({ fill: colour, stroke: "paper" }) }),
    ),
    ...values.map((value, i) =>
      words([value.toFixed(3)], across(i), up(value) + side * 15, {
        ...TICK,
        size: 12,
        role: "ink",
        halo: true,
      }),
    ),
  ].join("");
}

/** A sample of each line above the plot, its name beside it, one below the other. */
function legend(series) {
  const rows = series.map(({ label }, place) => {
    const { colour, dashes } = LOOKS[place];
    const y = 20 + place * 20;
    const line = { ...paint({ stroke: colour }), "stroke-width": 2, "stroke-dasharray": dashes };
    return (
      element("path", { d: `M${PLOT.left} ${y}h40`, ...line }) +
      element("circle", {
        cx: PLOT.left + 20,
        cy: y,
        r: 4,
        ...paint({ fill: colour, stroke: "paper" }),
      }) +
      words([label], PLOT.left + 50, y, { ...LABEL, anchor: "start" })
    );
  });
  const widest = Math.max(...series.map(({ label }) => textWidth(label, { size: LABEL.size })));
  if (PLOT.left + 50 + widest > PLOT.width) throw new Error("a legend is too long");
  return rows.join("");
}
