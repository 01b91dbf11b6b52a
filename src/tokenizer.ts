export type { GptTokenizer } from "./tokens/from-gpt-tokenizer.js";
export { fromGptTokenizer } from "./tokens/from-gpt-tokenizer.js";
export type { Tokenizer } from "./tokens/tokenizer.js";
