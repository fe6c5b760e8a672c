import { describe, expect, test } from "vitest";
import type { JudgedMessage } from "../core/judge.ts";
import { groupRequest } from "../judge/group-request.ts";
import { DEFAULT_RUBRIC } from "../judge/rubric.ts";
import { embeddedReplies } from "./embedded-data.ts";
import { type LabelledPair, limited, replyTo } from "./labelled.ts";
import { INJECTIONS, SELF_PRAISE } from "./probe-texts.ts";
import { type AuditRequest, auditRequests, countRequests, lastSaid } from "./requests.ts";

const DATA = embeddedReplies("dev");
const ALL = [...auditRequests(DATA, 0)];
const of = (probe: string) => ALL.filter((one) => one.probe === probe);
const textOf = ({ attempts }: AuditRequest, name: string) =>
  lastSaid(attempts.find((one) => one.name === name)?.messages ?? []);
const asked = ({ group }: AuditRequest) =>
  groupRequest(group.attempts, { rubric: DEFAULT_RUBRIC, tools: [] }).user;

describe("the requests of an audit", () => {
  test("are six for each pair and one for each group, the same for the same seed", () => {
    expect(ALL).toHaveLength(countRequests(DATA));
    expect([...auditRequests(DATA, 0)]).toEqual(ALL);
    expect([...auditRequests(DATA, 1)]).not.toEqual(ALL);
  });

  test("show a pair in both orders, and again as it was with another seed", () => {
    const [pairs, swapped, repeated] = [of("pair"), of("swapped"), of("repeated")];
    for (const [i, pair] of pairs.entries()) {
      expect(swapped[i]?.attempts).toEqual(pair.attempts.toReversed());
      expect(asked(repeated[i] as AuditRequest)).toBe(asked(pair));
      expect([pair.group.repeat, repeated[i]?.group.repeat]).toEqual([undefined, 1]);
    }
  });

  test.each(["pair", "length", "self_praise", "injection"])(
    "do not favour a place: %s",
    (probe) => {
      const name = probe === "pair" ? "better" : "probe";
      const places = of(probe).map(({ attempts }) => attempts.findIndex((a) => a.name === name));
      const size = probe === "pair" ? 2 : 3;
      for (let place = 0; place < size; place++) {
        const share = places.filter((at) => at === place).length / places.length;
        expect(Math.abs(share - 1 / size)).toBeLessThan(0.18);
      }
    },
  );

  test("compare a copy with neutral text of the same length, so that length explains nothing", () => {
    for (const request of [...of("self_praise"), ...of("injection")]) {
      const [control, probe] = [textOf(request, "control"), textOf(request, "probe")];
      expect(control.length).toBeGreaterThanOrEqual(probe.length);
      expect(control.length - probe.length).toBeLessThanOrEqual(4);
    }
    const used = new Set(of("injection").map(({ wording }) => wording));
    expect(used.size).toBe(INJECTIONS.length);
    expect(new Set(of("self_praise").map(({ wording }) => wording)).size).toBe(SELF_PRAISE.length);
  });

  test("make a copy for length at least half as long again, and add to the worse reply only", () => {
    for (const [i, request] of of("length").entries()) {
      const [control, probe] = [textOf(request, "control"), textOf(request, "probe")];
      expect(control).toBe(lastSaid(DATA.pairs[i]?.worse ?? []));
      expect(probe.startsWith(control)).toBe(true);
      expect(probe.length).toBeGreaterThan(1.5 * control.length);
      expect(textOf(request, "better")).toBe(lastSaid(DATA.pairs[i]?.better ?? []));
    }
  });

  test("tell the judge nothing of labels, names or probes", () => {
    for (const request of ALL.slice(0, 12))
      expect(asked(request)).not.toMatch(/"(better|worse|control|probe)"|worth|preference-dev/);
  });

  test("add to what the policy said last, not to its calls of tools", () => {
    const call: JudgedMessage = {
      ...{ role: "assistant", content: "call", tool_calls: [{ name: "find", arguments: {} }] },
    };
    const pair: LabelledPair = {
      id: "calls",
      tools: [],
      better: [...replyTo("find it", "found"), call],
      worse: [{ role: "user", content: "find it" }, call],
    };
    const [, , , length] = [...auditRequests({ pairs: [pair], groups: [] }, 0)];
    const copy = length?.attempts.find(({ name }) => name === "probe")?.messages;
    expect(copy).toHaveLength(3);
    expect(copy?.[1]).toEqual(call);
    expect(lastSaid(copy ?? [])).not.toBe("");
  });

  test("are fewer with a limit, of pairs and groups alike", () => {
    const few = limited(DATA, 20);
    expect([few.pairs.length, few.groups.length]).toEqual([20, 5]);
    expect(limited(DATA, 1000)).toBe(DATA);
  });
});
