import { Buffer } from "node:buffer";
import type { UpstreamOperation } from "../../providers/upstream-provider.js";

/** A request of an operation, and what OpenAI's server answers; Cohere's, for rankings. */
export interface OperationSample {
  /** An object is JSON, a list is a form. */
  readonly request: Readonly<Record<string, unknown>> | FormSample;
  /** A document, or bytes of the type. */
  readonly answer: Readonly<Record<string, unknown>> | { readonly type: string; readonly bytes: Buffer };
  /** What of a document a provider that translates must keep. */
  readonly kept: object;
  /** What else comes with the call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The events of a stream; absent: it has none, or those of chat completions stand for it. */
  readonly events?: readonly object[];
}

const model = "sample-model";
const created = 1_700_000_000;
// Bytes that are no text, and some that look like the end of a part.
const picture = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), Buffer.from("\r\n--\r\n\0")]);
const sound = Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVEfmt "), Buffer.alloc(2000, 0xff)]);
const spoken = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 256));
const b64_json = picture.toString("base64");

const images = { created, data: [{ b64_json }], usage: { input_tokens: 9, output_tokens: 100, total_tokens: 109 } };
const keptImages = { data: [{ b64_json }] };
const transcript = { text: "Hello there.", usage: { type: "duration", seconds: 2 } };
const file = { filename: "a.wav", type: "audio/wav", bytes: sound };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const completionHead = { id: "cmpl-1", object: "text_completion", created, model };
const choice = { text: "Hello", index: 0, logprobs: null, finish_reason: "stop" };
const vector = { object: "embedding", index: 0, embedding: [0.25, -0.5] };
const verdict = { flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } };
const results = [
  { index: 1, relevance_score: 0.75 },
  { index: 0, relevance_score: 0.25 },
];
const message = {
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};

/** Of every operation but chat completions, which have tests of their own. */
export const operationSamples: Readonly<Record<Exclude<UpstreamOperation, "chat/completions">, OperationSample>> = {
  embeddings: {
    request: { model, input: ["Hi"], encoding_format: "float" },
    answer: { object: "list", data: [vector], model, usage: { prompt_tokens: 3, total_tokens: 3 } },
    kept: { data: [{ index: 0, embedding: vector.embedding }] },
  },
  responses: {
    request: { model, input: "Hi", store: false },
    answer: { id: "resp_1", object: "response", created_at: created, status: "completed", model, output: [message] },
    kept: { object: "response", status: "completed" },
  },
  messages: {
    request: { model, max_tokens: 10, messages: [{ role: "user", content: "Hi" }] },
    headers: { "anthropic-version": "2023-06-01" },
    answer: {
      ...{ id: "msg_1", type: "message", role: "assistant", model, content: [{ type: "text", text: "Hello" }] },
      ...{ stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 3, output_tokens: 2 } },
    },
    kept: { type: "message", stop_reason: "end_turn" },
  },
  completions: {
    request: { model, prompt: "Hi", max_tokens: 5 },
    answer: { ...completionHead, choices: [choice], usage },
    kept: { object: "text_completion", choices: [{ text: "Hello", index: 0, finish_reason: "stop" }] },
    events: [
      { ...completionHead, choices: [{ ...choice, finish_reason: null }] },
      { ...completionHead, choices: [{ ...choice, text: "" }] },
    ],
  },
  moderations: {
    request: { model, input: ["Hi"] },
    answer: { id: "modr-1", model, results: [verdict] },
    kept: { results: [{ flagged: false }] },
  },
  rerank: {
    request: { model, query: "Hi", documents: ["one", "two"] },
    answer: { id: "rank-1", results, meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } } },
    kept: { results },
  },
  "images/generations": {
    request: { model, prompt: "Hi", n: 1 },
    answer: images,
    kept: keptImages,
    events: [{ type: "image_generation.completed", b64_json, created_at: created }],
  },
  "images/edits": {
    request: [
      ["model", model],
      ["prompt", "Hi"],
      ["image", { filename: "a.png", type: "image/png", bytes: picture }],
    ],
    answer: images,
    kept: keptImages,
    events: [{ type: "image_edit.completed", b64_json, created_at: created }],
  },
  "audio/transcriptions": {
    request: [
      ["model", model],
      ["language", "en"],
      ["file", file],
    ],
    answer: transcript,
    kept: { text: transcript.text },
    events: [
      { type: "transcript.text.delta", delta: "Hello there." },
      { type: "transcript.text.done", text: "Hello there." },
    ],
  },
  "audio/translations": {
    request: [
      ["model", model],
      ["file", file],
    ],
    answer: transcript,
    kept: { text: transcript.text },
  },
  "audio/speech": {
    request: { model, input: "Hello", voice: "alloy", response_format: "mp3" },
    answer: { type: "audio/mpeg", bytes: spoken },
    kept: {},
  },
};

/** A part of a form: a text, or a file. */
type SamplePart = string | { readonly filename: string; readonly type: string; readonly bytes: Buffer };

export type FormSample = readonly (readonly [name: string, part: SamplePart])[];

const boundary = "infergate-sample-7Qx2";

export const formContentType = `multipart/form-data; boundary=${boundary}`;

/** The form as the gateway writes one. */
export function toFormBytes(form: FormSample): Buffer {
  const pieces = form.map(([name, part]) => {
    const isText = typeof part === "string";
    const file = isText ? "" : `; filename="${part.filename}"\r\ncontent-type: ${part.type}`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), isText ? Buffer.from(part) : part.bytes, Buffer.from("\r\n")]);
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

/** The parts of a form that came, files as the hexadecimal of their bytes. */
export async function readForm(
  body: Buffer,
  contentType: string | undefined,
): Promise<[name: string, value: string][]> {
  const request = new Response(new Uint8Array(body), { headers: { "content-type": contentType ?? "" } });
  const entries = [...(await request.formData()).entries()];
  return Promise.all(
    entries.map(async ([name, value]): Promise<[string, string]> => {
      if (typeof value === "string") return [name, value];
      return [name, Buffer.from(await value.arrayBuffer()).toString("hex")];
    }),
  );
}

/** The same of a sample. */
export function formEntries(form: FormSample): [name: string, value: string][] {
  return form.map(([name, part]) => [name, typeof part === "string" ? part : part.bytes.toString("hex")]);
}
