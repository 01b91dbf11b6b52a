import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";
import { type ClientServer, type ServerOptions, startServer } from "../../../e2e/clients/start-server.js";
import { chatModels } from "../../test-gateway.js";
import { honest, type SampleServer } from "./response-samples.js";

export interface ResponsesServer extends ClientServer {
  /** A request for a response, over HTTP. */
  post(body?: Record<string, unknown> | string, init?: PostOptions): Promise<Response>;
}

export interface PostOptions {
  key?: string;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** A gateway on loopback in front of an honest server of that kind, with the model `acme/small`. */
export async function startResponses(target: SampleServer, options: ServerOptions = {}): Promise<ResponsesServer> {
  const upstream = await startFakeUpstream();
  upstream.reply(honest(target));
  const provider = openAICompatible({
    baseURL: upstream.url,
    apiKey: "sk-upstream-secret",
    operations: target.operations,
    ...options.upstreamTimeouts,
  });
  const { upstreamTimeouts: _none, ...gatewayOptions } = options;
  const server = await startServer({ providers: { fake: provider }, models: chatModels, ...gatewayOptions });
  return { ...server, upstream, ...clientOf(server, upstream) };
}

function clientOf(server: ClientServer, upstream: FakeUpstream): Pick<ResponsesServer, "post" | "close"> {
  return {
    post: (body = {}, { key = "sk-pro", signal, headers } = {}) =>
      fetch(`${server.baseURL}/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : requestText(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    close: async () => {
      await server.close();
      await upstream.close();
    },
  };
}

export function requestText(members: Record<string, unknown> = {}): string {
  return JSON.stringify({ model: "acme/small", input: "Say hello.", ...members });
}

/** Runs a test with a server of its own; at the end, its books must balance and nothing may be left open. */
export function withResponses(
  target: SampleServer,
  run: (server: ResponsesServer) => Promise<void>,
  options: ServerOptions = {},
): () => Promise<void> {
  return async () => {
    const server = await startResponses(target, options);
    try {
      await run(server);
      await server.checkBooks();
    } finally {
      await server.close();
    }
  };
}

/** An event as its client reads it. */
export interface ReadEvent {
  name: string | undefined;
  data: Record<string, unknown> & { type: string; sequence_number: number };
}

/** The events of a stream; comments are left out. */
export async function readResponseEvents(response: Response): Promise<ReadEvent[]> {
  return parseEvents(await response.text());
}

export function parseEvents(text: string): ReadEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      // Only these end a line, and not all that a regular expression takes for an end.
      const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line] as const));
      const textOf = (name: string) => fields.get(name)?.slice(name.length + 2);
      return { name: textOf("event"), data: JSON.parse(textOf("data") ?? "") };
    });
}

/** A refusal of a request, before any stream. */
export async function refusalOf(response: Response) {
  const { error } = (await response.json()) as {
    error: { message: string; type: string; param: string | null; code: string | null };
  };
  return { status: response.status, ...error };
}
