export { DEFAULT_BASE_URL, type Endpoint } from "./endpoint.ts";
export { type OpenAiOptions, OpenAiPolicy, openOpenAiPolicy } from "./openai.ts";
