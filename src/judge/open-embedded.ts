/** The embedded judge: its server in this process, and the client that every judge has. */

import type { GroupJudge } from "../core/judge.ts";
import { EMBEDDED } from "../core/judge-flag.ts";
import { EMBEDDED_JUDGE, EMBEDDED_VERSION, startEmbeddedJudge } from "./embedded/server.ts";
import { type JudgeOptions, openJudge } from "./judge.ts";

type OfTheServer = "model" | "endpointName" | "cacheScope" | "onClose";

export interface EmbeddedOptions
  extends Omit<JudgeOptions, OfTheServer | "apiKey" | "baseUrl" | "variables"> {
  /** Known faults, such as `position=0.3`; none is an honest judge. */
  readonly faults?: readonly string[] | undefined;
}

/**
 * Opens the judge that needs no network and no key: it judges by rules, over HTTP on this machine.
 * Its identity has its faults and no port.
 */
export async function openEmbeddedJudge(options: EmbeddedOptions = {}): Promise<GroupJudge> {
  const { faults = [], ...others } = options;
  const named = faults.map((fault) => fault.trim()).filter((fault) => fault !== "");
  const server = await startEmbeddedJudge({ faults: named });
  return openJudge({
    ...others,
    model: [EMBEDDED_JUDGE, ...(named.length > 0 ? [named.toSorted().join(",")] : [])].join(":"),
    apiKey: "none",
    baseUrl: server.url,
    endpointName: EMBEDDED,
    cacheScope: `${EMBEDDED}@${EMBEDDED_VERSION}`,
    onClose: () => server.close(),
  });
}
