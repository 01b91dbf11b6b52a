import { answerBytes, eventBytes, longAnswerBytes, messages, requests, responses } from "./in-process-bodies.mjs";

const chat = { whole: answerBytes, stream: eventBytes };
const stream = { stream: true };

/**
 * What is called in process. `operation` is what the client speaks, `speaks` what the provider speaks, `answers` what it
 * answers with, `body` what is sent (a list: one after the other), `calls` how many make a round, `to` the workload that it is compared with. `by` is how the gateway is called:
 * by its adapters' method, by `gateway.handler`, or by the `fetch` of `gateway.as()`. `credits` is what the plan has, and
 * `status` what a call gets: 100,000,000 and 200 by default.
 *
 * A round is long enough to be one of warm code: the collection before each round makes the compiler forget some of what it
 * knows, and the first rounds are those in which it learns.
 */
export const inProcessWorkloads = {
  W1: {
    operation: "chat/completions",
    speaks: "chat/completions",
    answers: chat,
    body: requests.chat(),
    calls: 20_000,
  },
  "W1 prompts": {
    operation: "chat/completions",
    speaks: "chat/completions",
    answers: chat,
    body: requests.prompts(),
    calls: 20_000,
  },
  "W1 long": {
    operation: "chat/completions",
    speaks: "chat/completions",
    answers: { whole: longAnswerBytes, stream: eventBytes },
    body: requests.chat(),
    calls: 2000,
  },
  W2a: streamOf("chat/completions", "chat/completions", chat, requests.chat(stream)),
  W3: { operation: "chat/completions", speaks: "chat/completions", answers: chat, body: requests.wide(), calls: 600 },
  "W3 agent": {
    operation: "chat/completions",
    speaks: "chat/completions",
    answers: chat,
    body: requests.agent(),
    calls: 1000,
  },
  W6: {
    operation: "chat/completions",
    speaks: "chat/completions",
    answers: chat,
    body: requests.chat(),
    calls: 20_000,
    credits: 0,
    status: 429,
  },
  "W7 responses": wholeOf("responses", responses, requests.responses()),
  "W7 responses, stream": streamOf("responses", "responses", responses, requests.responses(stream)),
  "W7 messages": wholeOf("messages", messages, requests.messages()),
  "W7 messages, stream": streamOf("messages", "messages", messages, requests.messages(stream)),
  "W8 responses on chat": streamOf("responses", "chat/completions", chat, requests.responses(stream)),
  "W8 messages on chat": streamOf("messages", "chat/completions", chat, requests.messages(stream)),
  "W8 chat on messages": streamOf("chat/completions", "messages", messages, requests.chat(stream)),
  "W8 responses on messages": streamOf("responses", "messages", messages, requests.responses(stream)),
  "W9 handler": { ...wholeOf("chat/completions", chat, requests.chat()), by: "handler", to: undefined },
  "W9 as": { ...wholeOf("chat/completions", chat, requests.chat()), by: "as", to: "W9 handler" },
};

function wholeOf(operation, answers, body) {
  return { operation, speaks: operation, answers, body, calls: 10_000, to: "W1" };
}

function streamOf(operation, speaks, answers, body) {
  return { operation, speaks, answers, body, calls: 600, to: "W2a" };
}
