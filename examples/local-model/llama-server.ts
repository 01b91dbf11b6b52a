import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ChatHistoryItem, getLlama, LlamaChatSession } from "node-llama-cpp";

export interface LlamaServer {
  /** Such as `http://127.0.0.1:40123/v1`. */
  url: string;
  close(): Promise<void>;
}

interface ChatBody {
  messages: { role: string; content: string }[];
  max_tokens?: number;
  temperature?: number;
  seed?: number;
  stop?: string | string[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
}

/** A server that speaks OpenAI's chat completions, on loopback, for one model and one answer at a time. */
export async function startLlamaServer(modelPath: string): Promise<LlamaServer> {
  const llama = await getLlama({ gpu: false, build: "never" });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: { max: 4096 } });
  const sequence = context.getSequence();
  let last: Promise<unknown> = Promise.resolve();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST" || request.url !== "/v1/chat/completions") return fail(response, 404, "Not found.");
    const body = await readBody(request);
    if (body === undefined) return fail(response, 400, "Send messages with texts, the last of them the user's.");
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const turn = last.then(() => (gone.signal.aborted ? undefined : complete(body, response, gone.signal)));
    last = turn.catch(() => {});
    await turn;
  }

  async function complete(body: ChatBody, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const head = { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model: "local" };
    const chunk = (delta: object, finish: string | null = null) =>
      send(response, {
        ...head,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    await sequence.clearHistory();
    const session = new LlamaChatSession({ contextSequence: sequence });
    const { tokenMeter } = sequence;
    const before = tokenMeter.getState();
    try {
      session.setChatHistory(body.messages.slice(0, -1).map(toHistory));
      if (body.stream) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        chunk({ role: "assistant", content: "" });
      }
      const { responseText, stopReason } = await session.promptWithMeta(body.messages.at(-1)?.content ?? "", {
        signal,
        ...(body.max_tokens === undefined ? {} : { maxTokens: body.max_tokens }),
        temperature: body.temperature ?? 1,
        ...(body.seed === undefined ? {} : { seed: body.seed }),
        customStopTriggers: [body.stop ?? []].flat(),
        ...(body.stream ? { onTextChunk: (content: string) => chunk({ content }) } : {}),
      });
      const { usedInputTokens, usedOutputTokens } = tokenMeter.diff(before);
      const usage = {
        prompt_tokens: usedInputTokens,
        completion_tokens: usedOutputTokens,
        total_tokens: usedInputTokens + usedOutputTokens,
      };
      const finish = stopReason === "maxTokens" ? "length" : "stop";
      if (!body.stream) {
        const choices = [{ index: 0, message: { role: "assistant", content: responseText }, finish_reason: finish }];
        return reply(response, 200, { ...head, object: "chat.completion", choices, usage });
      }
      chunk({}, finish);
      if (body.stream_options?.include_usage) {
        send(response, { ...head, object: "chat.completion.chunk", choices: [], usage });
      }
      response.end("data: [DONE]\n\n");
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      session.dispose({ disposeSequence: false });
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else fail(response, 500, String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await last;
      await llama.dispose();
    },
  };
}

function toHistory({ role, content }: ChatBody["messages"][number]): ChatHistoryItem {
  if (role === "assistant") return { type: "model", response: [content] };
  return { type: role === "system" ? "system" : "user", text: content };
}

async function readBody(request: IncomingMessage): Promise<ChatBody | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const body = JSON.parse(Buffer.concat(pieces).toString());
  const messages: unknown = body?.messages;
  const isText = (message: ChatBody["messages"][number]) => typeof message?.content === "string";
  return Array.isArray(messages) && messages.at(-1)?.role === "user" && messages.every(isText) ? body : undefined;
}

function send(response: ServerResponse, event: object): void {
  response.write(`data: ${JSON.stringify(event)}\n\n`);
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function fail(response: ServerResponse, status: number, message: string): void {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  reply(response, status, { error: { message, type, param: null, code: null } });
}
