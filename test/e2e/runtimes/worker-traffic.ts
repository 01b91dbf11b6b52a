import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";

const usage = { prompt_tokens: 10, completion_tokens: 40, total_tokens: 50 };
const whole = {
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", usage },
  choices: [{ index: 0, message: { role: "assistant", content: "word" }, finish_reason: "stop" }],
};

export interface CountingUpstream {
  readonly url: string;
  /** How many calls came, how many ended, and how many were broken off. */
  readonly seen: { calls: number; ended: number; cut: number };
  close(): void;
}

/** A model server that counts what it does. A streamed answer goes on as its reader takes it, a piece every few milliseconds. */
export async function startCountingUpstream(): Promise<CountingUpstream> {
  const seen = { calls: 0, ended: 0, cut: 0 };
  const server = createServer(async (request, response) => {
    seen.calls++;
    response.on("close", () => (response.writableFinished ? seen.ended++ : seen.cut++));
    let body = "";
    for await (const piece of request) body += piece;
    const { stream, messages } = JSON.parse(body);
    if (stream) await writeStream(response, asked[messages[0].content] as Asked);
    else response.setHeader("content-type", "application/json").end(JSON.stringify(whole));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { seen, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

interface Asked {
  readonly content: string;
  readonly pieces: number;
}

/** What is streamed, by what is said. To one who says that he leaves, it goes on until he has left. */
const asked: Readonly<Record<string, Asked>> = {
  hello: { content: "word ", pieces: 40 },
  long: { content: "x".repeat(1024 * 1024), pieces: 40 },
  leaving: { content: "word ", pieces: 10_000 },
};

async function writeStream(response: ServerResponse, { content, pieces }: Asked): Promise<void> {
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
  const write = async (data: object): Promise<void> => {
    response.write(`data: ${JSON.stringify({ ...chunk, ...data })}\n\n`);
    do await setTimeout(5);
    while (response.writableNeedDrain && !response.destroyed);
  };
  response.setHeader("content-type", "text/event-stream");
  for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
    await write({ choices: [{ index: 0, delta: { content } }] });
  }
  await write({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  await write({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

/** What is called, and by whom. */
export interface Caller {
  readonly origin: string;
  readonly key: string;
}

export function sendChat({ origin, key }: Caller, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "hello" }], ...body }),
    ...(signal && { signal }),
  });
}

export interface Traffic {
  readonly calls: number;
  readonly atOnce: number;
}

/** Of the calls, a third is whole, a third is streamed, and a third is streamed to clients that leave after the first piece. */
export async function sendTraffic(caller: Caller, { calls, atOnce }: Traffic): Promise<{ left: number }> {
  const places = Array.from({ length: calls }, (_, place) => place).values();
  let left = 0;
  const work = async (): Promise<void> => {
    for (const place of places) {
      if (await sendOne(caller, place)) left++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { left };
}

/** @returns whether its client left. @throws where a response is not as it should be. */
async function sendOne(caller: Caller, place: number): Promise<boolean> {
  const leaving = new AbortController();
  const messages = [{ role: "user", content: place % 3 === 1 ? "leaving" : "hello" }];
  const response = await sendChat(caller, { stream: place % 3 > 0, messages }, leaving.signal);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  if (place % 3 === 1) {
    await response.body?.getReader().read();
    leaving.abort();
    return true;
  }
  const text = await response.text();
  if (!text.includes(place % 3 === 0 ? '"finish_reason":"stop"' : "data: [DONE]"))
    throw new Error(`It lacks its end: ${text}`);
  return false;
}
