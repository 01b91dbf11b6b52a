import { errorBody, eventStream, type FakeAnswer, wholeAnswer } from "../../../src/testing.js";
import { textChunks, textCompletion } from "../../support/completion-samples.js";
import type { GoldenCase } from "./golden-cases.js";

function call(path: string, body: object): Pick<GoldenCase, "method" | "path" | "body"> {
  return { method: "POST", path, body: JSON.stringify(body) };
}

const boundary = "golden";

/** A form with a file. */
function form(path: string, fields: Readonly<Record<string, string>>, file: string) {
  const parts = [
    ...Object.entries(fields).map(([name, value]) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`),
    `Content-Disposition: form-data; name="${file}"; filename="a b.wav"\r\nContent-Type: audio/wav\r\n\r\nsound`,
  ];
  const body = [...parts.map((part) => `--${boundary}\r\n${part}\r\n`), `--${boundary}--\r\n`].join("");
  return { method: "POST", path, body, headers: { "content-type": `multipart/form-data; boundary=${boundary}` } };
}

const draw = (members: object = {}) =>
  call("/v1/images/generations", { model: "media/draw", prompt: "A cat", ...members });
const say = (members: object = {}) =>
  call("/v1/audio/speech", { model: "media/say", input: "Hi all", voice: "alloy", ...members });
const hear = (fields: Readonly<Record<string, string>> = {}, path = "/v1/audio/transcriptions") =>
  form(path, { model: "media/hear", ...fields }, "file");
const change = (fields: Readonly<Record<string, string>> = {}) =>
  form("/v1/images/edits", { model: "media/draw", prompt: "A hat", ...fields }, "image[]");

const usage = {
  ...{ input_tokens: 12, output_tokens: 272, total_tokens: 284 },
  input_tokens_details: { text_tokens: 12, image_tokens: 0 },
};
const images = { created: 1_700_000_000, data: [{ b64_json: "Y2F0" }], quality: "low", size: "1024x1024", usage };
const drawn = (type: string) => ({ type, b64_json: "Y2F0", quality: "low", size: "1024x1024", usage });
const blocked = errorBody("Blocked.", { code: "moderation_blocked" });
const busy = wholeAnswer(errorBody("Oh."), { status: 500 });

const sound: FakeAnswer = (_request, response) => {
  response.writeHead(200, { "content-type": "audio/mpeg" });
  response.end("sound");
};
const spoken = [
  { type: "speech.audio.delta", audio: "c291bmQ=" },
  { type: "speech.audio.done", usage: { input_tokens: 4, output_tokens: 40, total_tokens: 44 } },
];
const heard = {
  ...{ task: "transcribe", language: "english", duration: 9.5, text: "Hello there." },
  segments: [{ id: 0, start: 0, end: 9.5, text: "Hello there." }],
  usage: { type: "duration", seconds: 10 },
};
const words = [
  { type: "transcript.text.delta", delta: "Hello there." },
  { type: "transcript.text.done", text: "Hello there.", usage: { type: "duration", seconds: 10 } },
];
const ranking = (members: object = {}) =>
  call("/v1/rerank", { model: "media/rank", query: "a", documents: ["one", "two"], ...members });
const ranked = { results: [{ index: 1, relevance_score: 0.9 }], meta: { billed_units: { search_units: 1 } } };
const judged = { id: "modr-1", results: [{ flagged: false, categories: {}, category_scores: {} }] };

const cases: readonly GoldenCase[] = [
  { name: "images", ...draw({ n: 1, size: "1024x1024", response_format: "b64_json" }), upstream: wholeAnswer(images) },
  {
    name: "images as a stream",
    ...draw({ stream: true, partial_images: 1 }),
    upstream: eventStream(
      [
        { type: "image_generation.partial_image", b64_json: "Y2E=", partial_image_index: 0 },
        drawn("image_generation.completed"),
      ],
      { done: false },
    ),
  },
  {
    name: "images as a stream that is cut off",
    ...draw({ stream: true }),
    upstream: eventStream([{ type: "image_generation.partial_image", b64_json: "Y2E=" }], { done: false }),
  },
  { name: "images that are blocked", ...draw(), upstream: wholeAnswer(blocked, { status: 400 }) },
  { name: "images in no such size", ...draw({ size: "0x0" }) },
  { name: "images at the next target", ...draw(), upstream: busy, next: wholeAnswer(images) },
  { name: "edit of an image", ...change(), upstream: wholeAnswer(images) },
  {
    name: "edit of an image as a stream",
    ...change({ stream: "true" }),
    upstream: eventStream([drawn("image_edit.completed")], { done: false }),
  },
  { name: "edit of no image", ...call("/v1/images/edits", { model: "media/draw", prompt: "A hat" }) },
  { name: "edit of an image at the next target", ...change(), upstream: busy, next: wholeAnswer(images) },

  { name: "speech", ...say(), upstream: sound },
  { name: "speech as events", ...say({ stream_format: "sse" }), upstream: eventStream(spoken, { done: false }) },
  { name: "speech that is no sound", ...say(), upstream: wholeAnswer({ oh: "no" }), next: wholeAnswer({ oh: "no" }) },
  { name: "speech of nothing", ...say({ input: "" }) },
  { name: "speech at the next target", ...say(), upstream: busy, next: sound },

  { name: "transcript", ...hear(), upstream: wholeAnswer(heard) },
  { name: "transcript as a text", ...hear({ response_format: "text" }), upstream: wholeAnswer(heard) },
  { name: "transcript as subtitles", ...hear({ response_format: "srt" }), upstream: wholeAnswer(heard) },
  { name: "transcript as a stream", ...hear({ stream: "true" }), upstream: eventStream(words) },
  {
    name: "transcript as a stream that is cut off",
    ...hear({ stream: "true" }),
    upstream: eventStream(words.slice(0, 1), { done: false }),
  },
  { name: "transcript in no such format", ...hear({ response_format: "pdf" }) },
  { name: "transcript at the next target", ...hear(), upstream: busy, next: wholeAnswer(heard) },
  { name: "translation", ...hear({}, "/v1/audio/translations"), upstream: wholeAnswer(heard) },
  { name: "translation as a stream", ...hear({ stream: "true" }, "/v1/audio/translations") },

  { name: "ranking at the next target", ...ranking({ top_n: 1 }), upstream: busy, next: wholeAnswer(ranked) },
  {
    name: "ranking that is refused",
    ...ranking(),
    upstream: wholeAnswer({ message: "Slow down." }, { status: 429, headers: { "retry-after": "3" } }),
    next: wholeAnswer({ message: "Slow down." }, { status: 429, headers: { "retry-after": "3" } }),
  },
  {
    name: "moderation at the next target",
    ...call("/v1/moderations", { model: "media/judge", input: "one" }),
    upstream: busy,
    next: wholeAnswer(judged),
  },
  {
    name: "completion at the next target",
    ...call("/v1/completions", { model: "media/twice", prompt: "Once" }),
    upstream: busy,
    next: wholeAnswer(textCompletion([" upon"])),
  },
  {
    name: "completion as a stream at the next target",
    ...call("/v1/completions", { model: "media/twice", prompt: "Once", stream: true }),
    upstream: eventStream([errorBody("Oh.", { type: "server_error" })], { done: false }),
    next: eventStream(textChunks()),
  },
];

/** Images, sound, rankings, moderations and completions: whole, streamed, refused, and made at the next target. */
export const goldenMedia = cases.map((golden): GoldenCase => ({ key: "sk-media", ...golden }));
