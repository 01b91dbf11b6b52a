import type { TokenCounts } from "../../../../src/prices/usage-counts.js";
import type { FakeAnswer, FakeRequest } from "../../../../src/testing.js";

/** One thing that a model says in a run of an agent, whichever API its server speaks. */
export interface ModelTurn {
  thought?: string;
  text?: string;
  calls?: readonly ModelCall[];
  /** The output cap has cut it off. */
  isCut?: boolean;
  /** What the server counts: what the run must be charged for. */
  tokens: TokenCounts;
  /** Whose turn it is, where two agents ask at a time. Default: whoever asks next. */
  isFor?: (request: FakeRequest) => boolean;
  /** Whether the agent may end without asking for it. Default: it must ask. */
  isOptional?: boolean;
}

/** A call of a tool: with arguments, or with a text where its input is no JSON. */
export type ModelCall = { id: string; name: string } & ({ arguments: Record<string, unknown> } | { input: string });

/** Bytes in place of a turn, such as a failure. */
export interface RawTurn {
  answer: FakeAnswer;
  /** What the server counts. Default: nothing, so that what is charged is an estimate. */
  tokens?: TokenCounts;
}

/** What comes next; a function where it depends on the request. */
export type ScriptedTurn = ModelTurn | RawTurn | ((request: FakeRequest) => ModelTurn);

/** How a kind of server says a turn: whole, or as a stream. */
export interface ServerSpeech {
  operation: "chat/completions" | "messages" | "responses";
  whole(turn: ModelTurn): FakeAnswer;
  stream(turn: ModelTurn): FakeAnswer;
}

/** Counts of tokens; what is not given is zero. */
export function tokens(counts: Partial<TokenCounts>): TokenCounts {
  return { input: 0, cachedInput: 0, output: 0, reasoning: 0, ...counts };
}
