import { eventStream, type FakeAnswer, type FakeRequest, honestChat, wholeAnswer } from "../../src/testing.js";
import { textCompletion } from "./completion-samples.js";
import { honestEmbeddings, inputsOf } from "./embedding-samples.js";

/** A form that came to a server: its fields as texts, its files as bytes, in order. */
export async function formEntries({ body, headers }: FakeRequest): Promise<[name: string, value: string | File][]> {
  const type = headers["content-type"] ?? "";
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  return [...form.entries()];
}

/** What a server of images makes, of whatever prompt. */
export const madeImage = Buffer.from("an image");

/** What a server of speech says, of whatever text. */
export const spokenSound = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 31) % 256));

export const heardText = "Hello there.";

/** Does what OpenAI's server does for every operation, and Cohere's for rankings: with usage, and as long as what is asked. */
export const honestServer: FakeAnswer = async (request, response) => {
  const path = request.url.replace(/^\/v1\//, "");
  const answer = await (answers[path] ?? (() => wholeAnswer({ error: { message: path } }, { status: 404 })))(request);
  return answer(request, response);
};

const answers: Readonly<Record<string, (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>>> = {
  "chat/completions": () => honestChat(),
  embeddings: () => honestEmbeddings(),
  completions: ({ json }) => {
    const texts = inputsOf(json.prompt).flatMap(() => Array.from({ length: json.n ?? 1 }, () => " there was"));
    return wholeAnswer(textCompletion(texts, { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }));
  },
  moderations: ({ json }) => {
    const results = [json.input].flat().map((text: unknown) => {
      const violence = /kill/.test(JSON.stringify(text));
      const scores = { violence: violence ? 0.9 : 0.01 };
      return { flagged: violence, categories: { violence }, category_scores: scores };
    });
    return wholeAnswer({ id: "modr-1", model: json.model, results });
  },
  rerank: ({ json }) => {
    const words = new Set(wordsOf(json.query));
    const results = (json.documents as string[])
      .map((text, index) => ({ index, relevance_score: shareOf(wordsOf(text), words) }))
      .sort((one, other) => other.relevance_score - one.relevance_score)
      .slice(0, json.top_n);
    return wholeAnswer({
      id: "r-1",
      results,
      meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } },
    });
  },
  "images/generations": ({ json }) => images(json.n, json.stream === true, "image_generation"),
  "images/edits": async (request) => {
    if (request.headers["content-type"] === "application/json") {
      return images(request.json.n, request.json.stream === true, "image_edit");
    }
    const fields = new Map(await formEntries(request));
    return images(Number(fields.get("n") ?? 1), fields.get("stream") === "true", "image_edit");
  },
  "audio/transcriptions": transcript,
  "audio/translations": transcript,
  "audio/speech": () => wholeAnswer(spokenSound, { headers: { "content-type": "audio/mpeg" } }),
};

const wordsOf = (text: string) => text.toLowerCase().match(/\w+/g) ?? [];

function shareOf(words: readonly string[], of: ReadonlySet<string>): number {
  return words.filter((word) => of.has(word)).length / words.length;
}

function images(n: number | undefined, stream: boolean, kind: string): FakeAnswer {
  const b64_json = madeImage.toString("base64");
  const seen = kind === "image_edit" ? 6 : 0;
  const usage = {
    ...{ input_tokens: 10, output_tokens: 100, total_tokens: 110 },
    input_tokens_details: { text_tokens: 10 - seen, image_tokens: seen },
  };
  const head = { size: "1024x1024", quality: "low", output_format: "png" };
  if (!stream) {
    const data = Array.from({ length: n ?? 1 }, () => ({ b64_json }));
    return wholeAnswer({ created: 1_700_000_000, ...head, data, usage });
  }
  const partial = {
    type: `${kind}.partial_image`,
    partial_image_index: 0,
    b64_json,
    created_at: 1_700_000_000,
    ...head,
  };
  const completed = { type: `${kind}.completed`, b64_json, created_at: 1_700_000_000, ...head, usage };
  return eventStream([partial, completed], { done: false });
}

async function transcript(request: FakeRequest): Promise<FakeAnswer> {
  const fields = new Map(await formEntries(request));
  const usage = { type: "duration", seconds: 9.5 };
  if (fields.get("stream") === "true") {
    const deltas = ["Hello", " there."].map((delta) => ({ type: "transcript.text.delta", delta }));
    return eventStream([...deltas, { type: "transcript.text.done", text: heardText, usage }], { done: false });
  }
  if (fields.get("response_format") !== "verbose_json") return wholeAnswer({ text: heardText, usage });
  const segment = { id: 0, seek: 0, start: 0, end: 9.5, text: heardText, tokens: [1], temperature: 0 };
  const sure = { avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 };
  const head = { task: "transcribe", language: "english", duration: 9.5, text: heardText };
  return wholeAnswer({ ...head, segments: [{ ...segment, ...sure }], usage });
}
