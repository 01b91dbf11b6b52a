import type { PresetOptions } from "../../../../src/providers/preset.js";
import type { UpstreamProvider } from "../../../../src/providers/upstream-provider.js";
import type { DialectSample } from "../dialects/dialect-sample.js";

/** What one preset sends to its own address, byte for byte, and what is answered there. */
export interface AddressSample {
  name: string;
  make(options: Pick<PresetOptions, "apiKey" | "fetch">): UpstreamProvider;
  /** The headers that carry the key `sk-upstream`. */
  key: { authorization: string } | { "api-key": string };
  /** Headers of the server's own, with which it answers: no client gets them. */
  serverHeaders: Readonly<Record<string, string>>;
  chat: ChatSample;
  /** Absent where the server has no embeddings. */
  embeddings?: EmbeddingsSample;
}

export interface ChatSample {
  url: string;
  /** The upstream model. */
  model: string;
  /** What {@link chatBody} becomes. */
  whole: string;
  /** What {@link streamBody} becomes. */
  stream: string;
  /** The recorded answers. */
  recorded: DialectSample;
  /** Which of the recorded errors is answered, and the client's part of it. */
  error: { what: string; status: number; code: string };
}

export interface EmbeddingsSample {
  url: string;
  model: string;
  /** What {@link embeddingsBody} becomes. */
  body: string;
  /** The recorded answer. */
  answer: string;
}

/** The messages of every request, with the role that the server knows for a developer. */
export function messagesFor(role: "developer" | "system"): string {
  return `[{"role":"${role}","content":"Answer briefly."}, {"role":"user","content":"Grüße — and now?"}]`;
}

/** As a client may write it: with spaces, and with a number as no JSON writer writes it. */
export const chatBody = `{ "model": "acme/small", "messages": ${messagesFor("developer")}, "max_tokens": 40, "temperature": 0.50 }`;

export const streamBody = `{"model":"acme/small","stream":true,"messages":${messagesFor("developer")},"max_tokens":40}`;

export const embeddingsBody =
  '{"model":"acme/embed", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}';

/** Two vectors of a recorded answer, with numbers as Python writes them. */
export const vectors = {
  first: '{"object":"embedding","index":0,"embedding":[-0.0069292834,2.5e-05]}',
  second: '{"object":"embedding","index":1,"embedding":[0.0134578,-1.0]}',
};
