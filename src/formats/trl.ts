/**
 * Rows of a data set for TRL's trainers: prompt and completion as messages (SFT, GRPO), or the whole
 * conversation as `messages` (SFT). Arrow needs the same columns and types in every row, hence the rest
 * is a string.
 */

import { z } from "zod";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import type { Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import { fromChat, toChat } from "./chat.ts";
import {
  type EpisodeCoding,
  type ExportContext,
  episodeFormat,
  OWN,
  type Place,
  type TrajectoryFormat,
} from "./format.ts";
import { openAiTool } from "./openai-tool.ts";
import { outcomeOf } from "./outcome.ts";
import { anything, parsed } from "./parsed.ts";

const rowSchema = z.looseObject({
  messages: z.array(anything).optional(),
  prompt: z.union([z.string(), z.array(anything)]).optional(),
  completion: z.union([z.string(), z.array(anything)]).optional(),
  reward: z.number().nullish(),
});

type Columns = (trajectory: Trajectory) => JsonObject;

const promptAndCompletion: Columns = ({ messages }) => {
  const turn = messages.findIndex(({ role }) => role === "assistant");
  const at = turn < 0 ? messages.length : turn;
  return { prompt: chat(messages.slice(0, at)), completion: chat(messages.slice(at)) };
};

const wholeConversation: Columns = ({ messages }) => ({ messages: chat(messages) });

/** With arguments as objects, as chat templates expect them. */
function chat(messages: readonly TrajectoryMessage[]): Json[] {
  return messages.map((message) => toChat(message, "object"));
}

function codingWith(columns: Columns): EpisodeCoding {
  return {
    encode(trajectory, { tools }: ExportContext) {
      const { id, sample, reward, code } = trajectory;
      return {
        ...columns(trajectory),
        ...(tools.length > 0 && { tools: canonicalJson(tools.map(openAiTool)) }),
        ...{ reward, task_id: id, sample, code },
      };
    },
    decode(record: JsonObject, place: Place): Trajectory {
      const row = parsed(rowSchema, record, "not a row for TRL");
      const { messages, prompt = [], completion = [] } = row;
      if (!messages && !row.prompt && !row.completion) {
        throw new TypeError("the row has neither messages nor prompt and completion");
      }
      const conversation = messages ?? [
        ...asMessages(prompt, "user"),
        ...asMessages(completion, "assistant"),
      ];
      return {
        ...outcomeOf(record, `line-${place.line}`, place),
        messages: conversation.map((message, i) =>
          fromChat(withoutNulls(message), `message ${i + 1}`),
        ),
        segments: null,
        reward: row.reward ?? null,
        metrics: {},
      };
    },
    withRest: (record, rest) => ({ ...record, [OWN]: canonicalJson(rest) }),
    restOf(record) {
      const text = record[OWN];
      return typeof text === "string" ? JSON.parse(text) : undefined;
    },
  };
}

/** A row of plain text is a conversation of one message each. */
function asMessages(given: string | readonly unknown[], role: string): readonly unknown[] {
  return typeof given === "string" ? [{ role, content: given }] : given;
}

/** Arrow fills in null for a field that other rows have. */
function withoutNulls(message: unknown): unknown {
  if (typeof message !== "object" || message === null) return message;
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null));
}

const MISSING =
  'task id (the line\'s number), outcome code ("imported"), whether the episode ended (no), metrics, rewards of single turns, token ids, log-probs, and the address of randomness (none)';

export const trl: TrajectoryFormat = episodeFormat(codingWith(promptAndCompletion), {
  name: "trl",
  about: "rows of prompt and completion for TRL's SFT and GRPO trainers",
  missing: MISSING,
});

export const trlMessages: TrajectoryFormat = episodeFormat(codingWith(wholeConversation), {
  name: "trl-messages",
  about: "rows of messages for TRL's SFT trainer",
  missing: MISSING,
});
