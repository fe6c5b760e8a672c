import { expect, test } from "vitest";
import type { Example } from "../../core/records.ts";
import { playScripted } from "../episode.ts";
import { emailSearch, MOST_TURNS, UNKNOWN } from "./email-search.ts";
import { type Fact, inbox, MAIL_COUNT } from "./inbox.ts";
import { searchMails } from "./search.ts";

const tasks = emailSearch.tasks("dev") as unknown as (Example & { fact: Fact | null })[];
const answerable = tasks.find(({ fact }) => fact !== null) as Example & { fact: Fact };
const unanswerable = tasks.find(({ fact }) => fact === null) as Example;

const call = (tool: string, given: object) => JSON.stringify({ tool, arguments: given });
const search = (...keywords: string[]) => call("search_emails", { keywords });
const read = (message_id: string) => call("read_email", { message_id });
const final = (answer: string, ...sources: string[]) =>
  call("return_final_answer", { answer, sources });

function played(task: Example, ...answers: string[]) {
  return playScripted(emailSearch, task, 0, (_, turn) => answers[turn] ?? answers.at(-1) ?? "");
}

test("the inbox has 5,000 mails with ids of their own, the same facts at every start", () => {
  const { mails, facts } = inbox();
  expect(mails).toHaveLength(MAIL_COUNT);
  expect(new Set(mails.map(({ message_id }) => message_id)).size).toBe(MAIL_COUNT);
  expect(new Set(facts.map(({ project, topic }) => `${project}/${topic}`)).size).toBe(MAIL_COUNT);
});

test("search finds the mail by all keywords, and obeys sender, days and the number of results", () => {
  const { project, topic, message_id } = answerable.fact;
  const query = { keywords: [project, topic], max_results: 10 };
  expect(searchMails(query).map((mail) => mail.message_id)).toEqual([message_id]);
  const [mail] = searchMails(query);
  expect(searchMails({ ...query, from_addr: "nobody@example.com" })).toEqual([]);
  expect(searchMails({ ...query, sent_after: mail?.sent })).toEqual([]);
  expect(searchMails({ ...query, sent_before: "2026-01-01" })).toHaveLength(1);
  expect(searchMails({ keywords: [project.split(" ")[2] as string], max_results: 2 })).toHaveLength(
    2,
  );
});

test("a right answer with its source after three turns has the largest reward there is for it", () => {
  const { project, topic, message_id, answer } = answerable.fact;
  const { end, reward } = played(
    answerable,
    search(project, topic),
    read(message_id),
    final(answer, message_id),
  );
  expect(end.code).toBe("correct");
  expect(reward).toBeCloseTo(1 + 0.3 + 0.1 + 0.1 * (1 - 3 / MOST_TURNS), 12);
});

test("what the search shows does not hold the answer", () => {
  for (const task of tasks.slice(0, 50)) {
    if (!task.fact) continue;
    const { turns } = played(task, search(task.fact.project, task.fact.topic), final("x"));
    const shown = turns[1]?.observation[0]?.content ?? "";
    expect(shown).toContain(task.fact.message_id);
    const { snippet } = JSON.parse(shown)[0];
    expect(snippet.split(/[ :]+/)).not.toContain(task.fact.answer);
  }
});

test("each way to fail has its code and the reward of the reference", () => {
  const { project, topic, message_id, answer } = answerable.fact;
  const found = search(project, topic);
  const cases: [string[], string, number][] = [
    [["not JSON"], "invalid_json", -2 + 0.1],
    [[found, "not JSON"], "invalid_json", -2 + 0.2],
    [[call("delete_email", {})], "unknown_tool", -1.9 + 0.1],
    [[call("read_email", { id: 1 })], "bad_arguments", -1.8 + 0.1],
    [[found, read(message_id), final("nonsense", message_id)], "wrong_answer", -1 + 0.4],
    [[found, read("m99999"), final("nonsense")], "wrong_answer", -1 + 0.1],
    [[found, read(message_id), final(answer)], "correct", 1 + 0.1 + 0.07],
    [[found, final(UNKNOWN)], "wrongly_unknown", 0.2],
    [[found], "no_answer", 0.2],
  ];
  for (const [answers, code, reward] of cases) {
    const episode = played(answerable, ...answers);
    expect([episode.end.code, episode.reward?.toFixed(6)]).toEqual([code, reward.toFixed(6)]);
  }
});

test("not to know is right only where no mail has the answer, and only after a search", () => {
  expect(played(unanswerable, search("x"), final(UNKNOWN)).end.code).toBe("rightly_unknown");
  expect(played(unanswerable, final(UNKNOWN)).end.code).toBe("wrongly_unknown");
  expect(played(unanswerable, search("x"), final("12:00", "m1")).end.code).toBe("wrong_answer");
});

test("calls that cannot be made and ids that no mail has are counted as tool errors", () => {
  const errors = (...answers: string[]) =>
    played(answerable, ...answers).turns.reduce((n, one) => n + (one.metrics?.tool_errors ?? 0), 0);
  expect(errors(search("x"), final("x"))).toBe(0);
  expect(errors(read("m99999"), search("x"), "not JSON")).toBe(2);
  expect(errors(...Array.from({ length: MOST_TURNS }, () => read("m99999")))).toBe(MOST_TURNS);
});
