/** What a judge sees of a conversation, as content that has a hash. */

import { fingerprint } from "./fingerprint.ts";
import type { JudgedMessage } from "./judge.ts";

/** Neither tokens, rewards nor the ids of calls count. */
export function conversationSha256(messages: readonly JudgedMessage[]): string {
  return fingerprint(
    messages.map(({ role, content, tool_calls: calls }) => ({
      ...{ role, content },
      ...(calls?.length && {
        tool_calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
      }),
    })),
  );
}
