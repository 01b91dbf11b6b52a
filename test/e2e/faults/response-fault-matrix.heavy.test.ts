import { describe, expect, it } from "vitest";
import {
  bothServers,
  chatServer,
  honest,
  nativeServer,
  type SampleServer,
} from "../../support/operations/responses/response-samples.js";
import { parseEvents } from "../../support/operations/responses/responses-server.js";
import { afterCells, type Cell, chargedBySecond, startCell } from "./fault-cell.js";
import { earlyFaults, type Fault } from "./faults.js";
import { firstEventFaults, lateFaults, partOfTheText, wholeFaults } from "./response-faults.js";

afterCells();

interface View {
  status: number;
  code: string | undefined;
  text: string;
  /** How a stream ended. */
  end: (string | undefined)[];
}

const bounds = { maxResponseBytes: 200_000, maxEventBytes: 20_000 };

/** A gateway in front of a server that fails, and perhaps one of the other kind that is well. */
function start(kind: SampleServer, fault: Fault, withOther: boolean): Promise<Cell> {
  const other = kind === chatServer ? nativeServer : chatServer;
  const well = { operations: other.operations, answer: honest(other) };
  return startCell([{ fault, operations: kind.operations }, ...(withOther ? [well] : [])], bounds);
}

async function call({ baseURL }: Cell, stream: boolean): Promise<View> {
  const response = await fetch(`${baseURL}/responses`, {
    method: "POST",
    // One connection per call: nothing of the test outlives it.
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model: "acme/small", stream, max_output_tokens: 20, input: "Hi" }),
  });
  const { status } = response;
  const body = await response.text();
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    const { error, output } = JSON.parse(body) as Whole;
    return { status, code: error?.code, text: output?.[0]?.content[0]?.text ?? "", end: [] };
  }
  const events = parseEvents(body).map(({ data }) => data);
  const { response: last } = (events.at(-1) ?? {}) as { response?: Whole };
  const text = events.map(({ delta = "" }) => delta).join("");
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
  return { status, code: last?.error?.code, text, end: events.slice(-2).map(({ type }) => type) };
}

interface Whole {
  error?: { code: string } | null;
  output?: { content: { text: string }[] }[];
}

/** Nothing is held, what was charged is what the event says, and no bug came to light. */
async function booksOf({ test, stock }: Cell): Promise<number> {
  const [event] = test.events;
  expect(test.events).toHaveLength(1);
  expect(await stock()).toEqual({ used: event?.chargedMicro, held: 0 });
  expect(test.warnings.map(({ code }) => code)).not.toContain("internal_error");
  return event?.chargedMicro ?? -1;
}

describe.each(bothServers)("in front of $name,", (kind) => {
  const [ended, healthyEnd] = [
    ["error", "response.failed"],
    ["response.output_item.done", "response.completed"],
  ];

  describe.each([false, true])("a request (stream: %s)", (stream) => {
    const own = stream ? firstEventFaults(kind) : wholeFaults(kind);

    it.each(own)("ends as a status: $name", async (fault) => {
      const cell = await start(kind, fault, false);
      const { failure } = fault;
      expect(await call(cell, stream)).toEqual({ status: failure.status, code: failure.code, text: "", end: [] });
      expect(await booksOf(cell)).toBe(0);
      expect(cell.test.events).toMatchObject([{ errorCode: failure.code, attempts: [failure.attempt] }]);
    });

    it.each([...earlyFaults, ...own])("goes on at a server of the other kind: $name", async (fault) => {
      const cell = await start(kind, fault, true);
      const { failure, isFinal = false } = fault;
      const well = { status: 200, code: undefined, text: "Hello world", end: stream ? healthyEnd : [] };
      const refused = { status: failure.status, code: failure.code, text: "", end: [] };
      expect(await call(cell, stream)).toEqual(isFinal ? refused : well);
      expect(await booksOf(cell)).toBe(isFinal ? 0 : chargedBySecond);
      expect(cell.servers[1]?.requests.map(({ url }) => url)).toEqual(
        isFinal ? [] : [(kind === chatServer ? nativeServer : chatServer).path],
      );
    });
  });

  it.each(lateFaults(kind))("a stream that has begun ends with both events: $name", async (fault) => {
    const cell = await start(kind, fault, true);
    const { failure } = fault;
    expect(await call(cell, true)).toEqual({ status: 200, code: failure.code, text: partOfTheText, end: ended });
    // The prompt, and what was seen.
    expect(await booksOf(cell)).toBeGreaterThan(20);
    expect(cell.servers[1]?.requests).toEqual([]);
    expect(cell.test.events).toMatchObject([{ usageSource: "partial", attempts: [failure.attempt] }]);
  });
});
