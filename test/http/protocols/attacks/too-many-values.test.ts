import { describe, expect, it } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import { wholeAnswer } from "../../../../src/testing.js";
import { startMedia } from "../../../support/media-server.js";
import { smallModel } from "../../../support/test-gateway.js";

const upstream = { provider: "fake", model: "m" };
const models: Model[] = [
  { ...smallModel, upstream },
  { id: "acme/rank", type: "rerank", price: { searches: 2 }, upstream },
  { id: "acme/draw", type: "image", price: { images: [{ credits: 0.1 }] }, upstream },
  { id: "acme/hear", type: "transcription", price: { audioMinute: 0.006 }, upstream },
];

const members = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",");
const chat = (stream: boolean) => ({ model: smallModel.id, stream, messages: [{ role: "user", content: "Hi" }] });
const rank = { model: "acme/rank", query: "q", documents: ["a"] };
const draw = { model: "acme/draw", prompt: "x", n: 1 };

function speech(format: string): FormData {
  const form = new FormData();
  form.append("model", "acme/hear");
  form.append("response_format", format);
  form.append("file", new Blob([Buffer.alloc(100)]), "a.mp3");
  return form;
}

const completion = (more: string) =>
  `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
  `"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},${more}}`;
const chunk = (more: string) =>
  `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},` +
  `"finish_reason":"stop"}],${more}}\n\ndata: [DONE]\n\n`;
const images = (count: number) => `{"created":1,"data":[${Array(count).fill('{"url":"u"}').join(",")}]}`;
const ranking = (more: string) => `{"results":[{"index":0,"relevance_score":1${more}}]}`;
const segments = (count: number) =>
  `{"text":"x","duration":9,"segments":[${Array(count).fill('{"start":0,"end":1,"text":"x"}').join(",")}]}`;

/** To read them would stop the process for seconds. */
describe("an answer of more values than the process can bear is none, and costs nothing", () => {
  it.each<[string, string, object, string]>([
    ["an event of many members", "chat/completions", chat(true), chunk(members(100_000))],
    ["an event of many numbers", "chat/completions", chat(true), chunk(`"x":[${Array(400_000).fill("1").join(",")}]`)],
    ["an event of many texts", "chat/completions", chat(true), chunk(`"x":[${Array(400_000).fill('""').join(",")}]`)],
    ["a response of many members", "chat/completions", chat(false), completion(members(100_000))],
    ["one in place of a stream", "chat/completions", chat(true), completion(members(100_000))],
    [
      "one of 17 MB in place of a stream",
      "chat/completions",
      chat(true),
      completion(`"x":"${"y".repeat(17_000_000)}"`),
    ],
    ["a result of many members", "rerank", rank, ranking(`,${members(100_000)}`)],
    ["a thousand images and more", "images/generations", draw, images(1025)],
    ["many images in place of a stream", "images/generations", { ...draw, stream: true }, images(1025)],
    ["a transcript of many parts", "audio/transcriptions", speech("verbose_json"), segments(33_000)],
    ["one for subtitles", "audio/transcriptions", speech("srt"), segments(33_000)],
  ])("%s", async (_name, path, body, answer) => {
    const started = await startMedia({
      models,
      operations: ["chat/completions", "rerank", "images/generations", "audio/transcriptions"],
    });
    const type = answer.startsWith("data:") ? "text/event-stream" : "application/json";
    started.server.reply((_request, response) => void response.writeHead(200, { "content-type": type }).end(answer));
    const ended = started.nextEvent();
    const isForm = body instanceof FormData;
    const response = await fetch(`${started.baseURL}/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", ...(isForm ? {} : { "content-type": "application/json" }) },
      body: isForm ? body : JSON.stringify(body),
    });
    expect(response.status).toBe(502);
    await response.text();
    expect(await ended).toMatchObject({ chargedMicro: 0 });
  });

  // As one that is too large in bytes: the server has done what it was asked for.
  it.each([false, true])("but one that was asked for is paid, once (streamed: %s)", async (stream) => {
    const started = await startMedia({ models, operations: ["chat/completions"] });
    const probable = '{"a":{},"b":{},"c":{}}';
    const many = `"x":[${Array(200_000).fill(probable).join(",")}]`;
    const type = stream ? "text/event-stream" : "application/json";
    started.server.reply((_request, response) => {
      response.writeHead(200, { "content-type": type }).end(stream ? chunk(many) : completion(many));
    });
    const ended = started.nextEvent();
    const response = await started.post("chat/completions", { ...chat(stream), logprobs: true, top_logprobs: 20 });
    expect(response.status).toBe(400);
    await response.text();
    expect(started.server.requests).toHaveLength(1);
    expect((await ended).chargedMicro).toBeGreaterThan(0);
  });

  it("but not one of as many as a long answer has", async () => {
    const started = await startMedia({
      models,
      operations: ["chat/completions", "rerank", "images/generations", "audio/transcriptions"],
    });
    // The probabilities of 16,000 tokens.
    const probable = '{"token":"abc","logprob":-0.1,"bytes":[97],"top_logprobs":[]}';
    const whole = completion(`"x":[${Array(16_000).fill(probable).join(",")}]`);
    started.server.reply(wholeAnswer(JSON.parse(whole) as object));
    const read = async (response: Response) => ({ status: response.status, text: await response.text() });
    expect((await read(await started.post("chat/completions", chat(false)))).status).toBe(200);
    expect((await (await started.post("chat/completions", chat(true))).text()).endsWith("data: [DONE]\n\n")).toBe(true);
    started.server.reply(wholeAnswer(JSON.parse(images(10)) as object));
    expect((await read(await started.post("images/generations", { ...draw, n: 10 }))).status).toBe(200);
  });
});
