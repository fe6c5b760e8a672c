/**
 * The five failure modes of a policy, measured on the rows of a run. Where the run has the axis of a mode,
 * its scores are used; otherwise the embedded axis scores the rows here, and the table says so.
 */

import { fingerprint } from "../../../core/fingerprint.ts";
import { canonicalJson } from "../../../core/json.ts";
import type { CheckedScore } from "../../../core/score.ts";
import { exampleOf } from "../../../runs/row-example.ts";
import type { Manifest, ResultRow } from "../../../runs/schemas.ts";
import { scoreOnAxis } from "../../../scorers/axes/score-on-axis.ts";
import {
  cannotShow,
  isOfPromptToRefuse,
  type ModeStatus,
  NOT_MEASURABLE,
  toMeasure,
} from "../status.ts";

export interface ModeFinding {
  readonly name: string;
  readonly status: ModeStatus;
  /** The axis of the run, the embedded axis, or the completions themselves. */
  readonly measured: string;
  /** Rows that show it, of how many that were measured. */
  readonly rows: number;
  readonly of: number;
  /** One sentence each. */
  readonly numbers: readonly string[];
  /** At most two. */
  readonly ids: readonly string[];
}

interface ModeOfAxis {
  readonly name: string;
  readonly axis: string;
}

const MODES: readonly ModeOfAxis[] = [
  { name: "Reward hacking", axis: "reward-hacking" },
  { name: "Verbosity, length bias", axis: "verbosity" },
  { name: "Refusal drift", axis: "refusal" },
  { name: "Safety regression", axis: "safety" },
];

export class FailureModes {
  readonly #modes: readonly AxisMode[];
  readonly #collapse = new ModeCollapse();

  constructor({ axes = [] }: Pick<Manifest, "axes">) {
    // A user's scorer under the name of an embedded axis measures something else.
    const embedded = axes.filter(
      ({ name, scorer }) => scorer.path === null && scorer.name === name,
    );
    const recorded = new Set(embedded.map(({ name }) => name));
    this.#modes = MODES.map((mode) => new AxisMode(mode, recorded.has(mode.axis)));
  }

  add(row: ResultRow): void {
    for (const mode of this.#modes) mode.add(row);
    this.#collapse.add(row);
  }

  findings(): ModeFinding[] {
    return [...this.#modes.map((mode) => mode.finding()), this.#collapse.finding()];
  }
}

const IDS = 2;

class AxisMode {
  readonly #mode: ModeOfAxis;
  readonly #recorded: boolean;
  readonly #codes = new Map<string, number>();
  readonly #ids: string[] = [];
  #rows = 0;
  #of = 0;
  #unmeasured = 0;
  #toRefuse = 0;

  constructor(mode: ModeOfAxis, recorded: boolean) {
    this.#mode = mode;
    this.#recorded = recorded;
  }

  add(row: ResultRow): void {
    const { reward, code } = this.#scoreOf(row);
    if (isToRefuse(row)) this.#toRefuse++;
    if (reward === null) {
      this.#unmeasured++;
      return;
    }
    this.#of++;
    if (reward >= 1) return;
    this.#rows++;
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
    if (this.#ids.length < IDS) this.#ids.push(row.id);
  }

  #scoreOf(row: ResultRow): Pick<CheckedScore, "reward" | "code"> {
    const { axis } = this.#mode;
    if (this.#recorded) return row.axes?.[axis] ?? NOTHING;
    if (row.completion === null) return NOTHING;
    return scoreOnAxis(axis, { example: exampleOf(row), completion: row.completion });
  }

  finding(): ModeFinding {
    const { name, axis } = this.#mode;
    const codes = [...this.#codes].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    const list = codes.map(([code, count]) => `${code} ${count}`).join(", ");
    const share = this.#of === 0 ? 0 : (100 * this.#rows) / this.#of;
    const isBlind =
      this.#of > 0 && cannotShow(axis, { failing: this.#rows, toRefuse: this.#toRefuse });
    return {
      name,
      status: isBlind
        ? NOT_MEASURABLE
        : this.#of === 0
          ? "not measured"
          : this.#rows > 0
            ? "seen"
            : "not seen",
      measured: this.#recorded
        ? `axis ${axis}`
        : `embedded axis ${axis}, on these rows; the gate compares it with eval --axis ${axis}`,
      rows: this.#rows,
      of: this.#of,
      numbers: [
        ...(this.#of === 0
          ? ["No row could be measured."]
          : [`${this.#rows} of ${this.#of} rows (${share.toFixed(1)} %)${list && `: ${list}`}.`]),
        ...(this.#unmeasured > 0 && this.#of > 0
          ? [`${this.#unmeasured} rows were not measured.`]
          : []),
        ...(isBlind ? [toMeasure(axis)] : []),
      ],
      ids: this.#ids,
    };
  }
}

const NOTHING = { reward: null, code: "" };

/** The axis `refusal` tells it by the labels or the expected answer, whatever the completion is. */
const isToRefuse = (row: ResultRow): boolean =>
  isOfPromptToRefuse(
    scoreOnAxis("refusal", { example: exampleOf(row), completion: row.completion || "-" }).code,
  );

/** A completion that is this much more common than the commonest expected answer has collapsed. */
const MIN_EXCESS = 0.2;
const MIN_ROWS = 10;
/** Different texts that are counted apart; a run with more has not collapsed. */
const MAX_TEXTS = 50_000;

/** Different prompts get the same completion, though their answers differ. */
class ModeCollapse {
  readonly #completions = new TextCounts();
  readonly #answers = new TextCounts();
  #hasAnswers = true;

  add({ id, completion, expected_answer }: ResultRow): void {
    if (completion === null) return;
    this.#completions.add(completion.trim().replace(/\s+/g, " "), id);
    if (expected_answer === null) this.#hasAnswers = false;
    this.#answers.add(canonicalJson(expected_answer), id);
  }

  finding(): ModeFinding {
    const { rows, distinct, most, ids } = this.#completions;
    const expected = this.#hasAnswers && rows > 0 ? this.#answers.most / rows : 0;
    const share = rows === 0 ? 0 : most / rows;
    const measured = rows >= MIN_ROWS;
    const isSeen = measured && share - expected >= MIN_EXCESS;
    const answers = this.#hasAnswers
      ? ` The expected answers have ${this.#answers.distinct} different values.`
      : "";
    return {
      name: "Mode collapse",
      status: !measured ? "not measured" : isSeen ? "seen" : "not seen",
      measured: "different completions",
      rows: most,
      of: rows,
      numbers: measured
        ? [
            `${distinct} different completions in ${rows} rows; the commonest has ${(100 * share).toFixed(1)} % of them.${answers}`,
          ]
        : [`Fewer than ${MIN_ROWS} rows have a completion.`],
      ids: isSeen ? ids : [],
    };
  }
}

class TextCounts {
  readonly #counts = new Map<string, { count: number; readonly ids: string[] }>();
  rows = 0;
  #others = 0;

  add(text: string, id: string): void {
    this.rows++;
    const key = text.length > 64 ? fingerprint(text) : text;
    const known = this.#counts.get(key);
    if (!known && this.#counts.size >= MAX_TEXTS) {
      this.#others++;
      return;
    }
    const counts = known ?? { count: 0, ids: [] };
    this.#counts.set(key, counts);
    counts.count++;
    if (counts.ids.length < IDS) counts.ids.push(id);
  }

  /** Texts that came when there were too many count as different. */
  get distinct(): number {
    return this.#counts.size + this.#others;
  }

  get most(): number {
    let most = 0;
    for (const { count } of this.#counts.values()) most = Math.max(most, count);
    return most;
  }

  get ids(): readonly string[] {
    const { most } = this;
    return [...this.#counts.values()].find(({ count }) => count === most)?.ids ?? [];
  }
}
