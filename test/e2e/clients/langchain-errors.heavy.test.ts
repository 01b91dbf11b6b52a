import { ContextOverflowError } from "@langchain/core/errors";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, describe, expect, it } from "vitest";
import { chatChunks, createGate, eventStream, wholeAnswer } from "../../../src/testing.js";
import { collect } from "./collect.js";
import { brokenStreams, type Failure, failures, smallStock } from "./failures.js";
import { oneCredit } from "./samples.js";
import { shortenWaits } from "./short-waits.js";
import { type ClientServer, expectNoSockets, withServer } from "./start-server.js";

shortenWaits();
afterAll(expectNoSockets);

/** LangChain cannot be made to send another content type. */
const sendable = failures.filter(({ headers }) => headers?.["Content-Type"] === undefined);

const prompt = [new HumanMessage("Hello!")];

function modelOf(
  { baseURL }: ClientServer,
  { key = "sk-pro", model = "acme/small", ...failure }: Partial<Failure> = {},
) {
  return new ChatOpenAI({
    model,
    apiKey: key,
    configuration: { baseURL, defaultHeaders: failure.headers ?? {} },
    ...(failure.parameters && { modelKwargs: failure.parameters }),
  });
}

async function errorOf(request: Promise<unknown>): Promise<Error> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Error) return error;
  throw new Error(`Not an error: ${error}`);
}

describe.concurrent.each(["whole", "streamed"])("LangChain, %s, fails by", (kind) => {
  it.each(sendable)("$name", (failure) =>
    withServer(async (server) => {
      await failure.prepare?.(server);
      const { status, code, type, param } = failure;
      const messages = [new HumanMessage(failure.prompt ?? "Hello!")];
      const model = modelOf(server, failure);
      const error = await errorOf(kind === "whole" ? model.invoke(messages) : model.stream(messages).then(collect));
      expect(error.message).toMatch(failure.message);
      const told = error instanceof ContextOverflowError ? error.cause : error;
      expect(told).toMatchObject({ status, code, type, param });
      expect(error instanceof ContextOverflowError).toBe(code === "context_length_exceeded");
      expect(server.attempts()).toBe(failure.attempts.langchain);
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual(Array(server.attempts()).fill(0));
    }, failure.options)(),
  );
});

describe.concurrent("LangChain, in the middle of a stream that breaks off", () => {
  it.each(brokenStreams)("$name, throws, and does not try again", ({ code, type, text: seen = "Hello", ...broken }) =>
    withServer(async (server) => {
      broken.prepare(server);
      let text = "";
      const read = async () => {
        for await (const chunk of await modelOf(server).stream(prompt)) {
          text += chunk.text;
          if (chunk.text !== "") broken.begun?.(server);
        }
      };
      expect(await errorOf(read())).toMatchObject({ code, type, param: null });
      expect(text).toBe(seen);
      expect(server.attempts()).toBe(1);
      await server.checkBooks();
      expect(server.events).toMatchObject([{ status: 200, errorCode: code }]);
      expect((server.events[0]?.chargedMicro ?? 0) > 0).toBe(seen !== "");
    }, broken.options)(),
  );
});

describe.concurrent("LangChain tries again when the upstream recovers, and is charged once", () => {
  it(
    "whole",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer("", { status: 500 }));
      expect((await modelOf(server).invoke(prompt)).text).toBe("Hello world");
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 39]);
    }),
  );

  it(
    "streamed",
    withServer(async (server) => {
      server.upstream.replyOnce(wholeAnswer("", { status: 500 }));
      const chunks = await collect(await modelOf(server).stream(prompt));
      expect(chunks.map(({ text }) => text).join("")).toBe("Hello world");
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([0, 39]);
    }),
  );
});

describe.concurrent("LangChain waits for a stock that requests in flight hold", () => {
  it(
    "as long as its retries last",
    withServer(async (server) => {
      const gate = createGate();
      gate.step(3);
      server.upstream.replyOnce(eventStream(chatChunks(), { gate }));
      const model = modelOf(server);
      const first = await model.stream(prompt);
      expect(await errorOf(model.invoke(prompt))).toMatchObject({ status: 429, code: "session_limit_exceeded" });
      expect(server.attempts()).toBe(8);
      gate.open();
      await collect(first);
      expect((await model.invoke(prompt)).text).toBe("Hello world");
    }, smallStock),
  );
});

describe.concurrent("LangChain uses a stock up", () => {
  it.each([undefined, 60_000])("and then makes exactly one attempt, sessions of %s ms", (sessionMs) =>
    withServer(async (server) => {
      const model = modelOf(server);
      for (let calls = 0; calls < 2; calls++) {
        await model.invoke(prompt);
        await collect(await model.stream(prompt));
      }
      const error = await errorOf(model.invoke(prompt));
      expect(error).toMatchObject({ status: 429, code: "session_limit_exceeded", type: "insufficient_quota" });
      expect(error.message).toMatch(/usage quota exhausted: 1 of 1 credits used\. It will reset at 20\d\d-/);
      expect([server.attempts(), server.upstream.requests.length]).toEqual([5, 4]);
    }, oneCredit(sessionMs))(),
  );
});
