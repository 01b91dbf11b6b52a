import { createHash } from "node:crypto";
import type { Model } from "../../src/gateway/models/model.js";
import { type FakeAnswer, type FakeRequest, wholeAnswer } from "../../src/testing.js";
import { everyModel } from "./every-operation.js";
import { honestServer } from "./honest-server.js";
import { isReadable, oddForms } from "./operations/uploads/odd-forms.js";

/** A request that all hosts and runtimes have to serve alike. */
export interface HostRequest {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  /** Sent in so many pieces, without a length. Absent: in one, with its length. */
  readonly pieces?: number;
  /** Of its response. */
  readonly status: number;
}

const twice = [
  { provider: "busy", model: "whisper-0" },
  { provider: "fake", model: "whisper-1" },
];

/** The most bytes of a form at these hosts. */
export const mostUploadBytes = 1024 * 1024;

/** Asks a server that is always busy before the other one. */
export const hostModels: readonly Model[] = [
  ...everyModel,
  ...everyModel
    .filter(({ id }) => id === "acme/hear")
    .map((model) => ({ ...model, id: "acme/twice", upstream: twice }) as Model),
];

/** The server that is always busy, beside the other one. */
export const busyServer = (url: string) => url.replace(/\/v1$/, "/busy/v1");

/** What both of them say. */
export const hostUpstream: FakeAnswer = (request, response) => {
  const isBusy = request.url.startsWith("/busy/");
  return (isBusy ? wholeAnswer({ error: { message: "Busy." } }, { status: 503 }) : honestServer)(request, response);
};

const formType = "multipart/form-data; boundary=b";
const bytesOf = (length: number) => Buffer.from(Array.from({ length }, (_, at) => (at * 37 + (at >> 8)) % 256));
const sound = bytesOf(300_000);

function form(fields: Readonly<Record<string, string>>, files: readonly (readonly [string, string, Buffer])[]): Buffer {
  const head = (name: string, more = "") => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  return Buffer.concat([
    // As openai-node sends them: files first.
    ...files.flatMap(([name, filename, bytes]) => [
      Buffer.from(head(name, `; filename="${filename}"`)),
      bytes,
      Buffer.from("\r\n"),
    ]),
    Buffer.from(
      Object.entries(fields)
        .map(([name, value]) => `${head(name)}${value}\r\n`)
        .join(""),
    ),
    Buffer.from("--b--\r\n"),
  ]);
}

const json = (name: string, path: string, body: object, status = 200): HostRequest => ({
  ...{ name, path, type: "application/json", body: Buffer.from(JSON.stringify(body)), status },
});

const hearing = (
  name: string,
  fields: Readonly<Record<string, string>>,
  more: Partial<HostRequest> = {},
): HostRequest => ({
  ...{ name, path: "/v1/audio/transcriptions", type: formType, status: 200 },
  body: form({ model: "acme/hear", ...fields }, [["file", "a.ogg", sound]]),
  ...more,
});

const image = Buffer.from("an image").toString("base64");
const messages = [{ role: "user", content: "Hello!" }];
const tooLarge = form({ model: "acme/hear" }, [["file", "a.ogg", Buffer.alloc(mostUploadBytes)]]);

export const hostRequests: readonly HostRequest[] = [
  hearing("a transcription", {}),
  {
    ...{ name: "a transcription at the second server", path: "/v1/audio/transcriptions", type: formType, status: 200 },
    ...{ body: form({ model: "acme/twice" }, [["file", "a.ogg", sound]]), pieces: 9 },
  },
  hearing("a transcription in chunks", { language: "de" }, { pieces: 20 }),
  hearing("a transcription in chunks of some bytes", {}, { pieces: 5_000 }),
  hearing("subtitles", { response_format: "srt" }),
  hearing("a transcription as events", { stream: "true" }),
  hearing("a translation", {}, { path: "/v1/audio/translations" }),
  {
    ...{ name: "an edit of two images", path: "/v1/images/edits", type: formType, pieces: 7, status: 200 },
    body: form({ model: "acme/image", prompt: "A hat.", n: "2" }, [
      ["image[]", "1.png", bytesOf(70_000)],
      ["image[]", "2.png", bytesOf(1_000)],
      ["mask", "m.png", bytesOf(500)],
    ]),
  },
  json("an edit as JSON", "/v1/images/edits", {
    ...{ model: "acme/image", prompt: "A hat.", images: [{ image_url: `data:image/png;base64,${image}` }] },
  }),
  json("an image", "/v1/images/generations", { model: "acme/image", prompt: "A hat.", n: 2 }),
  json("an image as events", "/v1/images/generations", { model: "acme/image", prompt: "A hat.", stream: true }),
  json("speech", "/v1/audio/speech", { model: "acme/voice", input: "Hello \u{1f600}", voice: "alloy" }),
  json("a ranking", "/v1/rerank", { model: "acme/rerank", query: "a hat", documents: ["a hat", "a cat"] }),
  json("a ranking by the second path", "/v2/rerank", {
    model: "acme/rerank",
    query: "a hat",
    documents: ["a hat", "no"],
  }),
  json("a completion", "/v1/completions", { model: "acme/base", prompt: "Once" }),
  json("a moderation", "/v1/moderations", { input: ["I kill time.", "Hello."] }),
  json("an answer", "/v1/chat/completions", { model: "acme/small", messages }),
  json("an answer as events", "/v1/chat/completions", { model: "acme/small", messages, stream: true }),
  json("a form that is JSON", "/v1/audio/transcriptions", { model: "acme/hear" }, 415),
  json(
    "a file of the upstream's",
    "/v1/images/edits",
    { model: "acme/image", prompt: "p", images: [{ file_id: "f" }] },
    400,
  ),
  hearing("a form without a boundary", {}, { type: "multipart/form-data", status: 400 }),
  hearing("an empty form", {}, { body: Buffer.alloc(0), status: 400 }),
  hearing("a form that is too large", {}, { body: tooLarge, status: 413 }),
  hearing("a form that is too large, in chunks", {}, { body: tooLarge, pieces: 40, status: 413 }),
  ...oddForms.map(([name, { type, body }]) => ({
    ...{ name: `a form with ${name}`, path: "/v1/audio/transcriptions", type, status: isReadable(name) ? 200 : 400 },
    body: Buffer.from(
      body.toString("latin1").replaceAll("cheap", "acme/hear").replaceAll("dear", "acme/voice"),
      "latin1",
    ),
  })),
];

export function toInit({ type, body, pieces }: HostRequest): RequestInit & { duplex?: "half" } {
  const init = { method: "POST", headers: { authorization: "Bearer sk-pro", "content-type": type } };
  if (pieces === undefined) return { ...init, body: new Uint8Array(body) };
  const size = Math.ceil(body.length / pieces);
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at < body.length) controller.enqueue(new Uint8Array(body.subarray(at, at + size)));
      else controller.close();
      at += size;
    },
  });
  return { ...init, body: stream, duplex: "half" };
}

/** What a client gets, and what the servers behind the gateway got: the same everywhere. */
export interface Served {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
  readonly upstream: readonly unknown[];
}

export async function servedAs(response: Response, upstream: readonly FakeRequest[]): Promise<Served> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get("content-type");
  const isText = /json|text/.test(type ?? "");
  const body = isText
    ? bytes.toString().replace(/"(id|created|created_at|event_id)":("[^"]*"|\d+)/g, '"$1":0')
    : digest(bytes);
  return { status: response.status, type, body, upstream: await Promise.all(upstream.map(receivedAs)) };
}

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function receivedAs({ url, headers, body }: FakeRequest): Promise<unknown> {
  const type = headers["content-type"] ?? "";
  if (!type.startsWith("multipart/")) return { url, type, json: JSON.parse(body.toString()) };
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const parts = [...form].map(async ([name, value]) =>
    typeof value === "string"
      ? [name, value]
      : [name, value.name, value.type, digest(new Uint8Array(await value.arrayBuffer()))],
  );
  return { url, hasLength: headers["content-length"] === String(body.length), parts: await Promise.all(parts) };
}
