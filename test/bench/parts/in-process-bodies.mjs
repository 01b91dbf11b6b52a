import { Buffer } from "node:buffer";

const text = "The quick brown fox jumps over the lazy dog. ";

/** A whole answer of 1 KB. */
export const answerBytes = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "small",
    choices: [{ index: 0, message: { role: "assistant", content: text.repeat(17) }, finish_reason: "stop" }],
    usage: { prompt_tokens: 200, completion_tokens: 170, total_tokens: 370 },
  }),
);

/** 200 events of 240 bytes, each a piece of its own. */
export const eventBytes = Array.from({ length: 200 }, (_, index) =>
  chunk({ content: ` word-${index}`.padEnd(60, "x") }),
).concat(chunk({}, "stop"), [Buffer.from("data: [DONE]\n\n")]);

function chunk(delta, finishReason = null) {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "small" };
  return Buffer.from(`data: ${JSON.stringify({ ...head, choices })}\n\n`);
}

/** The request of a workload: 1 KB, 1 KB with `stream`, 200 KB with text that is not ASCII. */
export function embeddedRequest(workload) {
  const content = workload === "W3" ? "Größe und Übermaß, 大きさ. ".repeat(6000) : text.repeat(20);
  const request = { model: "acme/small", messages: [{ role: "user", content }], max_tokens: 500 };
  return Buffer.from(JSON.stringify(workload === "W2a" ? { ...request, stream: true } : request));
}
