import { describe, expect, it } from "vitest";
import { promptEstimate } from "../../support/prompt-estimate.js";
import { afterCells, type Cell, chargedBySecond, startCell } from "./fault-cell.js";
import { type Fault, faults } from "./faults.js";

afterCells();

const start = (targets: readonly (Fault | undefined)[]) => startCell(targets.map((fault) => ({ fault })));

interface View {
  status: number;
  code: string | undefined;
  retryAfter: string | null;
  shouldRetry: string | null;
  text: string;
  /** The stream ended as one that is complete. */
  done: boolean;
}

function bodyOf(stream: boolean) {
  return { model: "acme/small", stream, max_tokens: 20, messages: [{ role: "user", content: "Hi" }] };
}

async function call({ baseURL }: Cell, stream: boolean): Promise<View> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: "POST",
    // One connection per call: nothing of the test outlives it.
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json", connection: "close" },
    body: JSON.stringify(bodyOf(stream)),
  });
  const body = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const payloads = isStream ? body.split("\n\n").flatMap((event) => event.match(/^data: (.*)$/)?.[1] ?? []) : [body];
  const objects = payloads.filter((payload) => payload !== "[DONE]").map((payload) => JSON.parse(payload));
  return {
    status: response.status,
    code: objects.find(({ error }) => error !== undefined)?.error.code,
    retryAfter: response.headers.get("retry-after"),
    shouldRetry: response.headers.get("x-should-retry"),
    text: objects.map(({ choices }) => choices?.[0]?.delta?.content ?? choices?.[0]?.message?.content ?? "").join(""),
    done: payloads.at(-1) === "[DONE]",
  };
}

function failedView({ failure: { status, code, retryAfter, shouldRetry, text } }: Fault): View {
  return {
    status,
    code,
    retryAfter: retryAfter ?? null,
    // A stream's headers have left before it fails.
    shouldRetry: status === 200 ? null : (shouldRetry ?? null),
    text: text ?? "",
    done: false,
  };
}

/** What a fault costs that came in the middle of the output: the tokens that the prompt is taken for, and 5 that were seen at the most. */
const chargedInPart = promptEstimate(JSON.stringify(bodyOf(true))) + 5 * 10;

for (const kind of ["whole", "stream"] as const) {
  const stream = kind === "stream";
  const healthy: View = {
    status: 200,
    code: undefined,
    retryAfter: null,
    shouldRetry: null,
    text: "Hello world",
    done: stream,
  };

  describe.each(faults[kind])(`$name (${kind})`, (fault) => {
    const { failure, isFinal = false } = fault;
    const isReached = fault.baseURL === undefined;
    const calls = isReached ? 1 : 0;
    const charged = failure.text === undefined ? 0 : chargedInPart;

    it("with one target", async () => {
      const cell = await start([fault]);
      const view = await call(cell, stream);
      expect(view).toEqual(failedView(fault));
      expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls]);
      expect(await cell.stock()).toEqual({ used: charged, held: 0 });
      expect(cell.test.events).toMatchObject([
        { chargedMicro: charged, errorCode: failure.code, attempts: [{ provider: "server-0", ...failure.attempt }] },
      ]);
      expect(cell.test.events[0]?.attempts[0]?.status).toBe(failure.attempt.status);
    });

    it("with another target that is well", async () => {
      const cell = await start([fault, undefined]);
      const view = await call(cell, stream);
      expect(view).toEqual(isFinal ? failedView(fault) : healthy);
      expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls, isFinal ? 0 : 1]);
      const cost = isFinal ? charged : chargedBySecond;
      expect(await cell.stock()).toEqual({ used: cost, held: 0 });
      const first = { provider: "server-0", model: "upstream-0", ...failure.attempt };
      const second = { provider: "server-1", model: "upstream-1", status: 200, outcome: "completed" };
      const [event] = cell.test.events;
      expect(event).toMatchObject({ chargedMicro: cost, attempts: isFinal ? [first] : [first, second] });
      expect(event?.attempts).toHaveLength(isFinal ? 1 : 2);
      expect(event?.errorCode).toBe(isFinal ? failure.code : undefined);
    });

    it("with another target that fails the same way", async () => {
      const cell = await start([fault, fault]);
      const view = await call(cell, stream);
      expect(view).toEqual(failedView(fault));
      expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls, isFinal ? 0 : calls]);
      expect(await cell.stock()).toEqual({ used: charged, held: 0 });
      expect(cell.test.events[0]?.attempts).toHaveLength(isFinal ? 1 : 2);
    });
  });
}
