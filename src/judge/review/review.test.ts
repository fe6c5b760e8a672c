import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ReviewLabel } from "../../runs/review-schemas.ts";
import { agreementOf } from "./agreement.ts";
import { reviewFigures } from "./figures.ts";
import { readJudgeLabels } from "./judge-labels.ts";
import { answersOf, type Choice, pairsSha256, type ReviewPair, shownOrder } from "./pair.ts";
import { labelPairs, type Screen, type Store } from "./session.ts";
import { pairsOfFile, pairsOfRollouts } from "./sources.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-review-"));
afterAll(() => rmSync(root, { recursive: true }));

const jsonl = (name: string, rows: readonly object[]) => {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
};

const pairs = (n: number): ReviewPair[] =>
  Array.from({ length: n }, (_, i) => ({
    ...{ id: `t${i}`, prompt: `question ${i}`, a: `old ${i}`, b: `new ${i}` },
  }));

async function* keysOf(text: string): AsyncGenerator<string, void, void> {
  yield* text;
}

function memory(): Store & { readonly labels: ReviewLabel[] } {
  const labels: ReviewLabel[] = [];
  return {
    labels,
    add: async (label) => void labels.push(label),
    undo: async () => void labels.pop(),
  };
}

const NO_SCREEN: Screen = { pair() {}, all() {}, help() {}, unknown() {} };

describe("the order", () => {
  test("puts either answer first about equally often, and is the seed's", () => {
    const shown = shownOrder(pairs(400), 3);
    const first = shown.filter(({ shownFirst }) => shownFirst === "a").length;
    expect(first).toBeGreaterThan(160);
    expect(first).toBeLessThan(240);
    expect(shownOrder(pairs(400), 3)).toEqual(shown);
    expect(shownOrder(pairs(400), 4)).not.toEqual(shown);
    expect(shown.map(({ id }) => id)).not.toEqual(pairs(400).map(({ id }) => id));
  });

  test("of the source does not change which pairs they are", () => {
    expect(pairsSha256(pairs(5).reverse())).toBe(pairsSha256(pairs(5)));
    expect(pairsSha256(pairs(4))).not.toBe(pairsSha256(pairs(5)));
  });
});

describe("keys", () => {
  const shown = shownOrder(pairs(4), 0);

  test("1 and 2 choose the answer that stands there, whichever it is", async () => {
    const store = memory();
    expect(await labelPairs(shown, store, keysOf("121="), NO_SCREEN)).toBe("done");
    const chosen = store.labels.map(({ better }, i) => {
      const [first, second] = answersOf(shown[i] as (typeof shown)[number]);
      const text = store.labels[i]?.[better as "a" | "b"];
      return better === "tie" ? "=" : text === first ? "1" : text === second ? "2" : "?";
    });
    expect(chosen.join("")).toBe("121=");
    expect(new Set(shown.map(({ shownFirst }) => shownFirst)), "both orders occur").toEqual(
      new Set(["a", "b"]),
    );
  });

  test("a skipped pair has no label, and comes no more", async () => {
    const store = memory();
    expect(await labelPairs(shown, store, keysOf("s1"), NO_SCREEN)).toBe("left");
    expect(store.labels.map(({ id }) => id)).toEqual(shown.slice(0, 2).map(({ id }) => id));
    expect(store.labels[0]).not.toHaveProperty("better");
  });

  test("u takes the last label back, also after the last pair", async () => {
    const store = memory();
    expect(await labelPairs(shown, store, keysOf("1111u2q"), NO_SCREEN)).toBe("done");
    const other = memory();
    await labelPairs(shown, other, keysOf("1112"), NO_SCREEN);
    expect(store.labels).toEqual(other.labels);
  });

  test("other keys change nothing and are said to mean nothing; ? helps", async () => {
    const store = memory();
    const said: string[] = [];
    const screen: Screen = {
      ...NO_SCREEN,
      help: () => said.push("help"),
      unknown: (key) => said.push(key),
    };
    expect(await labelPairs(shown, store, keysOf("x3?uq"), screen)).toBe("left");
    expect(store.labels).toEqual([]);
    expect(said).toEqual(["x", "3", "help", "u"]);
  });

  test("Ctrl-C keeps what was labelled", async () => {
    const store = memory();
    expect(await labelPairs(shown, store, keysOf("12\u000312"), NO_SCREEN)).toBe("interrupted");
    expect(store.labels).toHaveLength(2);
  });

  test("Ctrl-D quits as q does", async () => {
    const store = memory();
    expect(await labelPairs(shown, store, keysOf("1\u00042"), NO_SCREEN)).toBe("left");
    expect(store.labels).toHaveLength(1);
  });
});

const label = (id: string, better: Choice | undefined, first: "a" | "b" = "a"): ReviewLabel => ({
  ...{ id, prompt: "", a: "x", b: "y", shown_first: first },
  ...(better && { better }),
});

describe("figures", () => {
  test("count wins of the candidate, and skips apart", () => {
    const labels = [label("1", "b"), label("2", "b"), label("3", "a"), label("4", "tie")];
    expect(reviewFigures([...labels, label("5", undefined)], 9)).toMatchObject({
      ...{ n_pairs: 9, n_labelled: 4, n_skipped: 1, wins: 2, losses: 1, ties: 1 },
      win_rate: 0.625,
    });
  });

  test("a person who always says 1 is found out; one who chooses by content is not", () => {
    const shown = shownOrder(pairs(40), 1);
    const always = shown.map(({ id, shownFirst }) => label(id, shownFirst, shownFirst));
    const byContent = shown.map(({ id, shownFirst }) => label(id, "b", shownFirst));
    expect(reviewFigures(always, 40).first_p_value).toBeLessThan(1e-9);
    expect(reviewFigures(always, 40).p_value, "whose answers they were").toBeGreaterThan(0.05);
    expect(reviewFigures(byContent, 40).first_p_value).toBeGreaterThan(0.05);
    expect(reviewFigures(byContent, 40)).toMatchObject({ win_rate: 1, wins: 40 });
  });
});

describe("judge against person", () => {
  test("agreement, Cohen's kappa and the pairs in which they differ", () => {
    // Cohen's own kind of table: 20 + 15 of 50 agree, 25 and 30 of 50 say b: kappa 0.4.
    const rows: [Choice, Choice, number][] = [
      ["b", "b", 20],
      ["b", "a", 5],
      ["a", "b", 10],
      ["a", "a", 15],
    ];
    const both = rows.flatMap(([person, judge, n]) =>
      Array.from({ length: n }, (_, i) => ({ id: `${person}${judge}${i}`, person, judge })),
    );
    const labels = both.map(({ id, person }) => label(id, person));
    const verdicts = new Map(both.map(({ id, judge }) => [id, judge]));
    const found = agreementOf([...labels, label("unseen", "a")], verdicts);
    expect(found).toMatchObject({ n: 50, agreed: 35, share: 0.7, without_verdict: 1 });
    expect(found.kappa).toBeCloseTo(0.4, 12);
    expect(found.disagreements).toHaveLength(15);
    const [low, high] = found.interval ?? [1, 0];
    expect(low < 0.7 && 0.7 < high).toBe(true);
  });

  test("a judge that always says the same has no kappa", () => {
    const labels = [label("1", "a"), label("2", "a")];
    const verdicts = new Map<string, Choice>([
      ["1", "a"],
      ["2", "a"],
    ]);
    expect(agreementOf(labels, verdicts)).toMatchObject({ share: 1, kappa: null });
  });

  test("verdicts are read from judged runs, from an audit and from a file", async () => {
    jsonl("judged/candidate/results.jsonl", [
      { id: "1", outcome_code: "preferred", reward: 0.9 },
      { id: "2", outcome_code: "tied", reward: 0.5 },
      { id: "3", outcome_code: "not_preferred", reward: 0.1 },
      { id: "3", outcome_code: "preferred", reward: 0.9, episode: { sample: 1 } },
    ]);
    // An audit names its attempts by its own labels.
    const attempts = (a: number | null, b: number | null) => [
      { name: "better", score: b, text: "y" },
      { name: "worse", score: a, text: "x" },
    ];
    jsonl("audit/judgements.jsonl", [
      { id: "1", probe: "pair", attempts: attempts(0.2, 0.8) },
      { id: "1", probe: "swapped", attempts: attempts(0.8, 0.2) },
      { id: "2", probe: "pair", attempts: attempts(0.5, 0.5) },
      { id: "3", probe: "pair", attempts: attempts(0.9, 0.5) },
      { id: "4", probe: "pair", attempts: attempts(null, null) },
      { id: "not labelled", probe: "pair", attempts: attempts(1, 0) },
    ]);
    const file = jsonl("verdicts.jsonl", [
      { id: "1", better: "b" },
      { id: "2", better: "tie" },
      { id: "3", better: "a" },
    ]);
    const expected = new Map([
      ["1", "b"],
      ["2", "tie"],
      ["3", "a"],
    ]);
    const labels = ["1", "2", "3", "4"].map((id) => label(id, "a"));
    for (const source of [path.join(root, "judged"), path.join(root, "audit"), file])
      expect(await readJudgeLabels(source, labels, 1), source).toEqual(expected);
    mkdirSync(path.join(root, "nothing"));
    await expect(readJudgeLabels(path.join(root, "nothing"), [], 1)).rejects.toThrow(/no verdicts/);
  });
});

const episode = (
  id: string,
  sample: number,
  answers: readonly string[],
  prompt = `task ${id}`,
) => ({
  ...{ id, sample, address: ["x", sample], segments: null, reward: 0, code: "solved" },
  ...{ terminated: true, metrics: {}, metadata: {}, logs: [] },
  messages: [
    { role: "user", content: prompt },
    ...answers.flatMap((content, i) => [
      ...(i > 0 ? [{ role: "tool", content: `result ${i}` }] : []),
      {
        ...{ role: "assistant", content, reward: 0 },
        sampled: {
          ...{ token_ids: null, logprobs: null, finish: "stop" },
          ...{ prompt_tokens: null, completion_tokens: null },
        },
      },
    ]),
  ],
});

describe("sources", () => {
  test("two files of trajectories: the same tasks, the wanted sample, what differs", async () => {
    const baseline = jsonl("a.jsonl", [
      episode("1", 0, ["one"]),
      episode("1", 1, ["uno"]),
      episode("2", 0, ["two"]),
      episode("3", 0, ["three"]),
    ]);
    const candidate = jsonl("b.jsonl", [
      episode("1", 0, ["1"]),
      episode("1", 1, ["I"]),
      episode("2", 0, ["two"]),
      episode("4", 0, ["four"]),
    ]);
    expect(await pairsOfRollouts({ baseline, candidate, sample: 1 })).toMatchObject({
      pairs: [{ id: "1", prompt: "task 1", a: "one", b: "1" }],
      ...{ identical: 1, unpaired: 2, singleTurn: true },
    });
    const second = await pairsOfRollouts({ baseline, candidate, sample: 2 });
    expect(second.pairs).toEqual([{ id: "1", prompt: "task 1", a: "uno", b: "I" }]);
  });

  test("episodes of several turns show what happened, and are no pairs to train on", async () => {
    const baseline = jsonl("c.jsonl", [episode("1", 0, ["look", "done"])]);
    const candidate = jsonl("d.jsonl", [episode("1", 0, ["done"])]);
    const { pairs: found, singleTurn } = await pairsOfRollouts({ baseline, candidate, sample: 1 });
    expect(found[0]?.a).toBe("assistant:\nlook\n\ntool:\nresult 1\n\nassistant:\ndone");
    expect(singleTurn).toBe(false);
  });

  test("rollouts of other prompts or other tasks are refused", async () => {
    const baseline = jsonl("e.jsonl", [episode("1", 0, ["x"])]);
    const other = jsonl("f.jsonl", [episode("1", 0, ["y"], "another question")]);
    await expect(pairsOfRollouts({ baseline, candidate: other, sample: 1 })).rejects.toThrow(
      /asked different things in 1/,
    );
    const strange = jsonl("g.jsonl", [episode("9", 0, ["y"])]);
    await expect(pairsOfRollouts({ baseline, candidate: strange, sample: 1 })).rejects.toThrow(
      /no task in common/,
    );
  });

  test("completions get their prompts from the data set", async () => {
    const baseline = jsonl("h.jsonl", [{ id: "1", completion: "x" }]);
    const candidate = jsonl("i.jsonl", [{ id: "1", samples: ["y", "z"] }]);
    const dataset = jsonl("examples.jsonl", [{ id: "1", prompt: "why?" }]);
    const both = { baseline, candidate, sample: 1 };
    await expect(pairsOfRollouts(both)).rejects.toMatchObject({
      hint: expect.stringContaining("--dataset"),
    });
    const { pairs: found } = await pairsOfRollouts({ ...both, dataset });
    expect(found).toEqual([{ id: "1", prompt: "why?", a: "x", b: "y" }]);
  });

  test("a file of pairs, or of chosen and rejected ones", async () => {
    const own = jsonl("own.jsonl", [
      { id: "1", prompt: "p", a: "x", b: "y", better: "a" },
      { id: "2", prompt: "p", a: "x", b: "x" },
    ]);
    expect(await pairsOfFile(own)).toMatchObject({ pairs: [{ id: "1" }], identical: 1 });
    const preferences = jsonl("preferences.jsonl", [
      { id: "1", prompt: "p", chosen: "good", rejected: "bad" },
      { id: "1", prompt: "p", chosen: "good", rejected: "worse" },
    ]);
    const { pairs: found } = await pairsOfFile(preferences);
    expect(found.map(({ id, a, b }) => [id, a, b])).toEqual([
      ["1", "bad", "good"],
      ["1#2", "worse", "good"],
    ]);
    await expect(
      pairsOfFile(jsonl("no.jsonl", [{ id: "1", prompt: "p", a: "x" }])),
    ).rejects.toThrow(/no\.jsonl:1: a pair needs a and b/);
    await expect(pairsOfFile(jsonl("empty.jsonl", []))).rejects.toThrow(/is empty/);
    expect(readFileSync(own, "utf8"), "the source stays as it was").toContain('"better"');
  });
});
