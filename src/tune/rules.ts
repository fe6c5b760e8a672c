/** The rules of `tune validate` by name. An error makes a job fail or teach something else. */

export type Severity = "error" | "warning";

interface Rule {
  readonly severity: Severity;
  /** A sentence for the output and the reference page. */
  readonly about: string;
}

const error = (about: string): Rule => ({ severity: "error", about });
const warning = (about: string): Rule => ({ severity: "warning", about });

export const RULES = {
  no_rows: error("a file has at least one row"),
  too_few_rows: error("a training file for SFT has at least 10 rows"),
  too_many_rows: error("a file for RFT has at most 50,000 rows of training, 1,000 of validation"),
  file_too_large: error("a file has at most 512 MB"),
  portal_size: warning("a file above 200 MB cannot be uploaded in the portal"),
  not_utf8: error("each line is UTF-8; a byte order mark at the start is accepted"),
  line_too_long: error("a line has at most 16 MiB, the limit of this program"),
  blank_line: error("no line is blank"),
  line_ending: warning("lines end with LF, not with CR LF"),
  not_json: error("each line is JSON"),
  not_object: error("each line is a JSON object"),
  unknown_shape: error("each row has the fields of its kind"),
  old_dpo_field: error("DPO outputs are preferred_output and non_preferred_output"),
  deprecated_field: warning("tools takes the place of functions and function_call"),
  unknown_field: warning("a row has no fields besides those of its kind"),
  messages_missing: error("messages is a list with at least one message"),
  message_shape: error("each message is an object with a role"),
  role: error("each message has a role of its kind of file"),
  system_role: error("instructions of an RFT row have the role developer, not system"),
  content: error("content is text, or absent beside tool_calls"),
  images: error("DPO and RFT rows hold text only"),
  empty_answer: warning("an assistant message says or calls something"),
  no_assistant: error("an SFT row has at least one assistant message"),
  last_message: error("the last message of an RFT row is the user's"),
  last_not_assistant: warning("the last message of an SFT row is the assistant's"),
  weight_value: error("weight is 0 or 1"),
  weight_place: error("weight stands on assistant messages of SFT rows only"),
  nothing_to_learn: warning("at least one assistant message has a weight other than 0"),
  input_missing: error("a DPO row has an input with messages"),
  output_missing: error("each DPO output is a list with at least one message"),
  output_role: error("messages of a DPO output are the assistant's or a tool's"),
  output_no_assistant: error("each DPO output has at least one assistant message"),
  same_outputs: warning("the two outputs of a DPO row differ"),
  tools_shape: error("tools is a list of functions with a name and parameters"),
  parallel_tool_calls: error("parallel_tool_calls is true or false"),
  tool_calls_shape: error("tool_calls have an id, type function, a name and arguments as text"),
  tool_arguments: warning("the arguments of a call are a JSON object as text"),
  tool_unknown: warning("a called tool is one of tools"),
  tool_unanswered: error("each call is answered by a tool message directly after it"),
  tool_unasked: error("each tool message names a call before it that is not answered yet"),
  duplicate_row: warning("no row is there twice"),
  contradictory_row: warning("rows with the same input do not contradict each other"),
  leak: error("no prompt and no id of the validation file is in the training file"),
  too_many_tokens: error("a row has at most --max-tokens tokens"),
  job_tokens: error("a job has at most 2,000,000,000 tokens, each epoch counted"),
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** What is wrong, at a place that the caller knows. */
export type Report = (rule: RuleName, reason: string) => void;

export function severityOf(rule: RuleName): Severity {
  return RULES[rule].severity;
}
