import { Buffer } from "node:buffer";
import { expect } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";
import { type ClientServer, type ServerOptions, startServer } from "../../../e2e/clients/start-server.js";
import { chatModels } from "../../test-gateway.js";
import { accumulated, type Event, eventsIn } from "../../translate/message-events.js";
import { honestTarget, type MessagesServerKind } from "./message-samples.js";

export interface MessagesServer extends ClientServer {
  /** The gateway without `/v1`, as Anthropic's clients have it. */
  origin: string;
  /** A request for a message, over HTTP. */
  post(body?: Record<string, unknown> | string, init?: PostOptions): Promise<Response>;
}

interface PostOptions {
  path?: string;
  key?: string | null;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** A gateway on loopback in front of an honest server of that kind, with the model `acme/small`. */
export async function startMessages(
  target: MessagesServerKind,
  { upstreamTimeouts, ...options }: ServerOptions = {},
): Promise<MessagesServer> {
  const upstream = await startFakeUpstream();
  upstream.reply(honestTarget(target));
  const fake = target.provider({ baseURL: upstream.url, apiKey: "sk-upstream-secret", ...upstreamTimeouts });
  const server = await startServer({ providers: { fake }, models: chatModels, ...options });
  return { ...server, upstream, ...clientOf(server, upstream) };
}

function clientOf(server: ClientServer, upstream: FakeUpstream): Pick<MessagesServer, "origin" | "post" | "close"> {
  return {
    origin: server.baseURL.replace(/\/v1$/, ""),
    post: (body, options) => postMessage(server.baseURL, body, options),
    close: async () => {
      await server.close();
      await upstream.close();
    },
  };
}

export function postMessage(
  baseURL: string,
  body: Record<string, unknown> | string = {},
  { path = "/messages", key = "sk-pro", signal, headers }: PostOptions = {},
): Promise<Response> {
  return fetch(`${baseURL}${path}`, {
    method: "POST",
    headers: {
      ...(key === null ? undefined : { "x-api-key": key }),
      "content-type": "application/json",
      ...headers,
    },
    body: typeof body === "string" ? body : messageText(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

export function messageText(members: Record<string, unknown> = {}): string {
  const messages = [{ role: "user", content: "Say hello." }];
  return JSON.stringify({ model: "acme/small", max_tokens: 50, messages, ...members });
}

/** Runs a test with a server of its own; at the end, its books must balance and nothing may be left open. */
export function withMessages(
  target: MessagesServerKind,
  run: (server: MessagesServer) => Promise<void>,
  options: ServerOptions = {},
): () => Promise<void> {
  return async () => {
    const server = await startMessages(target, options);
    try {
      await run(server);
      await server.checkBooks();
    } finally {
      await server.close();
    }
  };
}

/** The events of a stream. */
export async function readMessageEvents(response: Response): Promise<Event[]> {
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  return eventsIn(Buffer.from(await response.arrayBuffer()));
}

/** A message, whole or as a strict client makes it of a stream. */
export async function readMessage(response: Response): Promise<Record<string, unknown>> {
  expect(response.status).toBe(200);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  return isStream
    ? accumulated(await readMessageEvents(response))
    : ((await response.json()) as Record<string, unknown>);
}

/** A refusal of a request, before any stream, of which the headers and the shape are right. */
export async function messageRefusal(response: Response) {
  const said = (await response.json()) as { error: { type: string; message: string; code: string } };
  const id = response.headers.get("request-id");
  expect(said).toEqual({ type: "error", error: expect.anything(), request_id: id });
  expect(id).toBe(response.headers.get("x-request-id"));
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  const headers = {
    shouldRetry: response.headers.get("x-should-retry"),
    retryAfter: response.headers.get("retry-after"),
  };
  return { status: response.status, ...said.error, ...headers };
}
