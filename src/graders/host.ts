/**
 * What graders get from the program that runs them and not from their JSON, which may be anybody's: a
 * local interpreter, and the endpoint of models that grade.
 */

import type { ChatEndpointOptions } from "../providers/chat-endpoint.ts";
import type { FetchEndpoint } from "../providers/fetch-client.ts";
import type { JudgeCache } from "../runs/judge-cache.ts";

/** Where models that grade are asked. */
export interface ModelHost {
  /** Throws where there is no key. */
  endpoint(model: string): Promise<ChatEndpointOptions & FetchEndpoint>;
  cache?(): Promise<JudgeCache | undefined>;
}

export interface GraderHost {
  readonly models?: ModelHost | undefined;
  /** The local Python that replaces the sandbox. */
  readonly python?: string | undefined;
}

let host: GraderHost = {};

export function graderHost(): GraderHost {
  return host;
}

/** For every grader that is opened from now on. */
export function setGraderHost(given: GraderHost): void {
  host = given;
}
