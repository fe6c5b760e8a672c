/** A judge in this process for tests: it scores each attempt by a function, and speaks the contract. */

import { fingerprint } from "../../core/fingerprint.ts";
import type {
  DroppedGroup,
  GroupJudge,
  GroupToJudge,
  JudgedMessage,
  JudgeIdentity,
} from "../../core/judge.ts";

/** What the policy wrote. */
export function written(messages: readonly JudgedMessage[]): string {
  return messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content)
    .join("");
}

interface TinyJudge extends GroupJudge {
  readonly asked: readonly GroupToJudge[];
}

/** `drops` says of which groups there is no verdict. */
export function tinyJudge(
  name: string,
  score: (text: string) => number,
  drops: (group: GroupToJudge, index: number) => boolean = () => false,
): TinyJudge {
  const asked: GroupToJudge[] = [];
  const own = {
    ...{ kind: "judge" as const, name, version: "1", endpoint: "this process" },
    ...{ rubric: "Be good.", rubric_sha256: fingerprint("Be good.") },
    sampling: { temperature: 0, top_k: 0, top_p: 1, max_tokens: 100, seed: 0 },
  };
  const identity: JudgeIdentity = { ...own, fingerprint: fingerprint(own) };
  return {
    ...{ identity, asked, traffic: { requests: 0, from_cache: 0 }, close: async () => {} },
    async *judge(groups) {
      for await (const group of groups) {
        const index = asked.push(group) - 1;
        const tokens = { prompt_tokens: 10 * group.attempts.length, completion_tokens: 3 };
        const { id } = group;
        const texts = group.attempts.map(written);
        yield drops(group, index)
          ? ({ id, tokens, dropped: { type: "refused", message: "no" } } satisfies DroppedGroup)
          : {
              ...{ id, tokens, identical: new Set(texts).size === 1 },
              judgements: texts.map((text) => ({ score: score(text), explanation: `"${text}"` })),
            };
      }
    },
  };
}
