import { expect } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger, WindowState } from "../../../src/ledger/credit-ledger.js";
import type { LedgerEvent } from "../../../src/ledger/guard/ledger-event.js";
import { chatAnswer, chatChunks, createGate, eventStream, wholeAnswer } from "../../../src/testing.js";
import { journalOf } from "../journal-of.js";
import { chatRequest, startTestGateway, type TestGateway } from "../test-gateway.js";

type Gate = ReturnType<typeof createGate>;

const account = "acct_basic";
const key = "sk-basic";
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
/** What one whole call costs, in micro-credits. */
export const callCost = 210;

/** A gateway on a ledger whose store is about to fail, and one account without limits. */
export class OutageTest {
  readonly statuses: number[] = [];
  readonly ledgerEvents: LedgerEvent[];
  readonly #test: TestGateway;
  readonly #gates: Gate[];
  /** Those that wait in the middle of their answer. */
  readonly #streams: Promise<string>[] = [];

  private constructor(test: TestGateway, gates: Gate[], ledgerEvents: LedgerEvent[]) {
    this.#test = test;
    this.#gates = gates;
    this.ledgerEvents = ledgerEvents;
  }

  static async start(ledger: CreditLedger, options: Partial<GatewayOptions> = {}): Promise<OutageTest> {
    const ledgerEvents: LedgerEvent[] = [];
    const test = await startTestGateway({ ledger, onLedgerEvent: (event) => ledgerEvents.push(event), ...options });
    const gates: Gate[] = [];
    const chunks = chatChunks("Hello wide world", { usage });
    const answers = { whole: wholeAnswer(chatAnswer({ usage })), stream: eventStream(chunks) };
    test.upstream.reply((request, response) => {
      const { stream, user } = request.json as { stream?: boolean; user?: string };
      if (user !== "gated") return answers[stream === true ? "stream" : "whole"](request, response);
      const gate = createGate();
      // The headers, the role, and the first word.
      gate.step(3);
      gates.push(gate);
      return eventStream(chunks, { gate })(request, response);
    });
    return new OutageTest(test, gates, ledgerEvents);
  }

  /** One whole or streamed call, to its end. */
  async call(stream = false): Promise<Response> {
    const response = await this.#test.gateway.handler(chatRequest({ stream }, key));
    this.statuses.push(response.status);
    const text = await response.clone().text();
    if (response.status === 200 && stream) expect(text).toMatch(/data: \[DONE\]\n\n$/);
    return response;
  }

  /** So many calls, half of them streamed, a few at a time. */
  async load(calls: number, parallel = 16): Promise<void> {
    let next = 0;
    const worker = async () => {
      while (next < calls) await this.call(next++ % 2 === 0);
    };
    await Promise.all(Array.from({ length: parallel }, worker));
  }

  /** Begins streams that wait in their middle until {@link OutageTest.finish}. */
  async begin(streams: number): Promise<void> {
    for (let count = 0; count < streams; count++) {
      const answer = await this.#test.gateway.handler(chatRequest({ stream: true, user: "gated" }, key));
      expect(answer.status).toBe(200);
      this.#streams.push(answer.text());
    }
  }

  /** Every one of them comes to its proper end. */
  async finish(): Promise<void> {
    for (const gate of this.#gates) gate.open();
    for (const text of await Promise.all(this.#streams)) {
      expect(text).toContain("Hello");
      expect(text).toMatch(/data: \[DONE\]\n\n$/);
    }
  }

  /** Closes the gateway; then counters, journal and the hooks' events must say the same. */
  async verifyBooks(ledger: CreditLedger): Promise<WindowState> {
    await this.#test.close();
    const charged = this.#test.events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
    const unlimited = { session: null, week: null, month: null };
    const limits = windowLimits({ credits: unlimited, sessionMs: 18_000_000, now: Date.now() });
    const { session, week, month } = (await ledger.balance(account, limits)).windows;
    const entries = await journalOf(ledger, account);
    expect({
      session: session.usedMicro,
      week: week.usedMicro,
      month: month.usedMicro,
      journal: entries.reduce((sum, { amountMicro }) => sum + amountMicro, 0),
    }).toEqual({ session: charged, week: charged, month: charged, journal: charged });
    expect(this.ledgerEvents.filter(({ type }) => type === "settle_lost" || type === "settle_unresolved")).toEqual([]);
    return session;
  }

  get warnings(): TestGateway["warnings"] {
    return this.#test.warnings;
  }
}
