import { setTimeout as pause } from "node:timers/promises";
import type { UpstreamCall, UpstreamProvider, UpstreamResponse } from "infergate";

interface ChatBody {
  messages: { role: string; content: unknown }[];
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  response_format?: { type?: string } | null;
  stop?: string | string[] | null;
}

/**
 * A model server without a server: it answers in OpenAI's wire format, from within this process, so that the examples
 * run with nothing else installed. It understands nothing, but it streams word by word and counts its tokens.
 */
export function demoModel({ wordMs = 40 } = {}): UpstreamProvider {
  return {
    async call(call: UpstreamCall): Promise<UpstreamResponse> {
      const body = JSON.parse(Buffer.from(call.body).toString()) as ChatBody;
      const { words, finishReason } = compose(body);
      const head = { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model: call.model };
      const promptTokens = Math.ceil(JSON.stringify(body.messages).length / 4);
      const usage = {
        prompt_tokens: promptTokens,
        completion_tokens: words.length,
        total_tokens: promptTokens + words.length,
      };
      if (call.stream) {
        const contentType = { "content-type": "text/event-stream" };
        return {
          status: 200,
          headers: contentType,
          body: stream(head, words, finishReason, usage, wordMs, call.signal),
        };
      }
      const message = { role: "assistant", content: words.join(""), refusal: null };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
      const text = JSON.stringify({ ...head, object: "chat.completion", choices, usage });
      return { status: 200, headers: { "content-type": "application/json" }, body: once(text) };
    },
  };
}

function compose(body: ChatBody): { words: string[]; finishReason: "stop" | "length" } {
  const said = lastText(body.messages);
  let text = `You said: "${said}". I am a demo model: I repeat what I hear, word by word, and count every word as a token.`;
  if (body.response_format?.type?.startsWith("json")) text = JSON.stringify({ you_said: said });
  for (const stop of [body.stop ?? []].flat()) text = text.split(stop)[0] ?? "";
  const words = text.match(/\s*\S+/g) ?? [];
  const limit = body.max_completion_tokens ?? body.max_tokens ?? words.length;
  return { words: words.slice(0, limit), finishReason: words.length > limit ? "length" : "stop" };
}

function lastText(messages: ChatBody["messages"]): string {
  const content = messages.at(-1)?.content;
  if (typeof content === "string") return content.slice(0, 200);
  const parts = Array.isArray(content) ? (content as { text?: string }[]) : [];
  return parts
    .map(({ text }) => text ?? "")
    .join(" ")
    .slice(0, 200);
}

async function* stream(
  head: object,
  words: readonly string[],
  finishReason: string,
  usage: object,
  wordMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const event = (members: object) =>
    Buffer.from(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...members })}\n\n`);
  const choice = (delta: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  yield event(choice({ role: "assistant", content: "" }));
  for (const word of words) {
    await pause(wordMs, undefined, { signal });
    yield event(choice({ content: word }));
  }
  yield event(choice({}, finishReason));
  yield event({ choices: [], usage });
  yield Buffer.from("data: [DONE]\n\n");
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
