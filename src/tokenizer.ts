export type { GptTokenizer } from "./openai/from-gpt-tokenizer.js";
export { fromGptTokenizer } from "./openai/from-gpt-tokenizer.js";
export type { Tokenizer } from "./openai/tokenizer.js";
