/** Where a thread of a `RemoteLane` begins: answers its calls one after the other. Nothing imports it. */

import { parentPort, workerData } from "node:worker_threads";
import { Lane } from "./lane.ts";
import {
  buffersOf,
  type LaneAnswer,
  type LaneCall,
  type RemoteSetup,
  sentError,
} from "./lane-messages.ts";
import { watchNativeCalls } from "./native-calls.ts";

const { setup, signals } = workerData as RemoteSetup;
watchNativeCalls(signals);
const lane = new Lane(setup);
let before: Promise<unknown> = Promise.resolve();

parentPort?.on("message", (call: LaneCall) => {
  before = before.then(async () => {
    const answer = await answerTo(call);
    parentPort?.postMessage(answer, "value" in answer ? buffersOf(answer.value) : []);
  });
});

async function answerTo({ id, method, args }: LaneCall): Promise<LaneAnswer> {
  try {
    const call = lane[method] as (...args: readonly unknown[]) => Promise<unknown>;
    return { id, value: await call.apply(lane, [...args]) };
  } catch (error) {
    return { id, error: sentError(error) };
  }
}
