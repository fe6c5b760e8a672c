export { type OpenAiOptions, OpenAiPolicy, openOpenAiPolicy } from "./openai.ts";
export { DEFAULT_BASE_URL, type Endpoint } from "./openai-client.ts";
