import type { UpstreamProvider } from "../../../../src/providers/upstream-provider.js";

/** The recorded responses of one server, and what the gateway must make of them. */
export interface DialectSample {
  name: string;
  /** @param origin - of a server on loopback that stands in for the real one. */
  make(origin: string): UpstreamProvider;
  /** Path and query of a call for the upstream model `upstream-small`. */
  path: string;
  /** How the key `sk-upstream` arrives. */
  key: { authorization?: string; "api-key"?: string };
  /** Members of {@link fullRequest} as they arrive; `undefined`: not at all. */
  received: Record<string, unknown>;
  /** The messages of {@link fullRequest} as they arrive. */
  messages: unknown[];
  whole: WholeSample;
  stream: StreamSample;
  tools: { whole: string; stream: string };
  reasoning?: { whole: string; stream: string; member: "reasoning" | "reasoning_content" };
  errors: ErrorSample[];
}

export interface WholeSample {
  body: string;
  content: string;
  /** input, cached input, output, reasoning. */
  tokens: readonly [number, number, number, number];
}

export interface StreamSample extends WholeSample {
  /** Members that clients must not get in `usage`. */
  hidden?: readonly string[];
}

export interface ErrorSample {
  what: string;
  status: number;
  headers?: Record<string, string>;
  body: string;
  /** The body is the text of a stream, in which the error comes after output. */
  inStream?: boolean;
  expected: { status?: number; code: string; param?: string | null; message?: RegExp };
}

/** What a demanding client sends: both caps, a developer, a history with thoughts, parameters that few servers know. */
export const fullRequest = {
  messages: [
    { role: "developer", content: "Answer briefly." },
    { name: "ann", role: "user", content: 'Grüße — "developer"?' },
    { role: "assistant", content: "Hm.", reasoning_content: "Let me think.", refusal: null },
    { role: "user", content: "And now?", name: "ann" },
  ],
  max_completion_tokens: 50,
  max_tokens: 40,
  seed: 9007199254740993n,
  logprobs: true,
  top_logprobs: 2,
  logit_bias: { "50256": -100 },
  user: "user-1",
  store: false,
  temperature: 0.5,
};

/** The messages with `system` in the place of `developer`, and without some members. */
export function messagesWithout(...names: string[]): unknown[] {
  return fullRequest.messages.map((message) =>
    Object.fromEntries(
      Object.entries({ ...message, role: message.role === "developer" ? "system" : message.role }).filter(
        ([name]) => !names.includes(name),
      ),
    ),
  );
}

/** Objects as the events of a stream, strings as they are. */
export function events(...parts: (object | string)[]): string {
  return parts.map((part) => (typeof part === "string" ? part : `data: ${JSON.stringify(part)}\n\n`)).join("");
}

export const done = "data: [DONE]\n\n";
