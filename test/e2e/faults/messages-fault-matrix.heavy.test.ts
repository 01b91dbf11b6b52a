import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import {
  chatTarget,
  honestTarget,
  type MessagesServerKind,
  nativeTarget,
} from "../../support/operations/messages/message-samples.js";
import { messageText, postMessage } from "../../support/operations/messages/messages-server.js";
import { promptEstimate } from "../../support/prompt-estimate.js";
import { smallModel } from "../../support/test-gateway.js";
import { accumulated, type Event, eventsIn } from "../../support/translate/message-events.js";
import { type ClientServer, startServer } from "../clients/start-server.js";
import { faults } from "./faults.js";
import { type MessagesFault, nativeFaults } from "./messages-faults.js";

/** How long a server that falls silent is waited for. */
const silenceMs = 30;

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => void rejections.push(reason);
beforeAll(() => void process.on("unhandledRejection", onRejection));
afterAll(() => {
  process.off("unhandledRejection", onRejection);
  expect(rejections).toEqual([]);
});

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Cell extends ClientServer {
  servers: FakeUpstream[];
}

type Place = readonly [target: MessagesServerKind, fault: MessagesFault | undefined];

/** A gateway over HTTP in front of a server for each place; `undefined` for one that is well. */
async function start(places: readonly Place[]): Promise<Cell> {
  const servers: FakeUpstream[] = [];
  const providers: Record<string, ReturnType<MessagesServerKind["provider"]>> = {};
  for (const [index, [target, fault]] of places.entries()) {
    const server = await startFakeUpstream();
    closers.push(() => server.close());
    servers.push(server);
    server.reply(fault?.answer ?? honestTarget(target));
    const at = await fault?.baseURL?.(server);
    if (at?.close !== undefined) closers.push(at.close);
    providers[`server-${index}`] = target.provider({
      baseURL: at?.url ?? server.url,
      timeoutMs: fault?.isSilent ? silenceMs : undefined,
    });
  }
  const [first, ...rest] = places.map((_place, index) => ({
    provider: `server-${index}`,
    model: `upstream-${index}`,
    ...(index === 1 ? { price: { input: 3, output: 30 } } : {}),
  }));
  const upstream = first === undefined ? [] : [first, ...rest];
  const gateway = await startServer({ models: [{ ...smallModel, upstream }], providers, maxEventBytes: 65_536 });
  closers.push(() => gateway.close());
  return { ...gateway, servers };
}

interface View {
  status: number;
  type: string | undefined;
  code: string | undefined;
  retryAfter: string | null;
  shouldRetry: string | null;
  text: string;
}

async function call({ baseURL }: Cell, stream: boolean): Promise<View> {
  const response = await postMessage(baseURL, { stream }, { headers: { connection: "close" } });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const { text, error } = isStream ? readStream(eventsIn(bytes)) : readWhole(JSON.parse(bytes.toString()));
  return {
    status: response.status,
    type: error?.type,
    code: error?.code,
    retryAfter: response.headers.get("retry-after"),
    shouldRetry: response.headers.get("x-should-retry"),
    text,
  };
}

interface Read {
  text: string;
  error: { type: string; code: string } | undefined;
}

function readWhole(said: { content?: { text: string }[]; error?: Read["error"] }): Read {
  return { text: (said.content ?? []).map(({ text }) => text).join(""), error: said.error };
}

/** Either a whole message, or one that stops at its only error. */
function readStream(events: readonly Event[]): Read {
  const last = events.at(-1);
  expect(events.filter(({ type }) => type === "error")).toHaveLength(last?.type === "error" ? 1 : 0);
  if (last?.type !== "error") return readWhole(accumulated(events) as Parameters<typeof readWhole>[0]);
  const deltas = events.flatMap(({ delta }) => (delta as { text?: string } | undefined)?.text ?? []);
  return { text: deltas.join(""), error: last["error"] as Read["error"] };
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  429: "rate_limit_error",
  502: "api_error",
  504: "timeout_error",
};

/** The type of what broke off says what it was, although its status is 200. */
const typesByCode: Readonly<Record<string, string>> = {
  bad_gateway: "api_error",
  upstream_timeout: "timeout_error",
};

function failedView({ errorType, failure: { status, code, retryAfter, shouldRetry, text } }: MessagesFault): View {
  return {
    status,
    type: errorType ?? (status === 200 ? typesByCode[code] : types[status]),
    code,
    retryAfter: retryAfter ?? null,
    // A stream's headers have left before it fails.
    shouldRetry: status === 200 ? null : status === 400 ? "false" : (shouldRetry ?? null),
    text: text ?? "",
  };
}

const healthy: View = {
  status: 200,
  type: undefined,
  code: undefined,
  retryAfter: null,
  shouldRetry: null,
  text: "Hello world",
};

/** 9 prompt tokens and 3 of output, at the second target's price. */
const chargedBySecond = 9 * 3 + 3 * 30;

/** What a fault costs that came in the middle: the prompt as it was counted, or is taken for, and the 5 tokens that were seen at the most. */
const chargedInPart = { chat: promptEstimate(messageText({ stream: true })) + 5 * 10, native: 9 + 5 * 10 };

/** Of the same kind as others, or by a clock: nothing of it depends on the API. */
const alike = /^429 with (a date|an absurd|nonsense)|^a host without|^a server that does not speak TLS|^a certificate/;
const distinct = (some: readonly MessagesFault[]) => some.filter(({ name }) => !alike.test(name));
const distinctOf = (of: Record<"whole" | "stream", readonly MessagesFault[]>) => ({
  whole: distinct(of.whole),
  stream: distinct(of.stream),
});

const kinds = [
  { target: chatTarget, other: nativeTarget, faults: distinctOf(faults), partMicro: chargedInPart.chat },
  { target: nativeTarget, other: chatTarget, faults: distinctOf(nativeFaults), partMicro: chargedInPart.native },
];

describe.each(kinds)("$target.name", ({ target, other, faults: ways, partMicro }) => {
  for (const mode of ["whole", "stream"] as const) {
    describe.each(ways[mode])(`$name (${mode})`, (fault) => {
      const { failure, isFinal = false } = fault;
      const calls = fault.baseURL === undefined ? 1 : 0;
      const charged = failure.text === undefined ? 0 : partMicro;
      /** Where both modes fail alike before the answer begins, one of them shows where the request goes then. */
      const isShown = mode === "whole" && ways.stream.some(({ name }) => name === fault.name);

      it("with one target", async () => {
        const cell = await start([[target, fault]]);
        expect(await call(cell, mode === "stream")).toEqual(failedView(fault));
        expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls]);
        expect(cell.events).toMatchObject([
          { chargedMicro: charged, errorCode: failure.code, attempts: [{ provider: "server-0", ...failure.attempt }] },
        ]);
        await cell.checkBooks();
      });

      if (isShown) return;

      it("with another target that is well, and of the other kind", async () => {
        const cell = await start([
          [target, fault],
          [other, undefined],
        ]);
        expect(await call(cell, mode === "stream")).toEqual(isFinal ? failedView(fault) : healthy);
        expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls, isFinal ? 0 : 1]);
        const first = { provider: "server-0", model: "upstream-0", ...failure.attempt };
        const second = { provider: "server-1", model: "upstream-1", status: 200, outcome: "completed" };
        expect(cell.events).toMatchObject([
          { chargedMicro: isFinal ? charged : chargedBySecond, attempts: isFinal ? [first] : [first, second] },
        ]);
        await cell.checkBooks();
      });
    });
  }
});
