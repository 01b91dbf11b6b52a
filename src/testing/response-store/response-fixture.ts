import type { Clock } from "../../ledger/calendar.js";
import type { KeptItem, KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { start, unique } from "../credit-ledger-fixture.js";
import { ManualClock } from "../manual-clock.js";
import type { AnyRunner } from "../test-runner.js";

/** Makes a store that takes its time from the clock. */
export type MakeResponseStore = (clock: Clock) => Promise<ResponseStore> | ResponseStore;

/** An account of its own in a store, and what makes its responses. */
export class ResponseFixture {
  readonly account = unique("account");
  readonly store: ResponseStore;
  readonly clock: ManualClock;

  constructor(store: ResponseStore, clock: ManualClock) {
    this.store = store;
    this.clock = clock;
  }

  /** A response that is not kept yet, with an item of input and two of output. */
  make(more: Partial<KeptResponse> = {}): KeptResponse {
    const id = more.id ?? unique("resp");
    return {
      id,
      account: this.account,
      createdAt: this.clock.now(),
      previousResponseId: undefined,
      response: JSON.stringify({ id, output: ["text"] }),
      input: [item(`${id}_in`)],
      output: [item(`${id}_rs`), item(`${id}_msg`)],
      ...more,
    };
  }

  async put(more: Partial<KeptResponse> = {}): Promise<KeptResponse> {
    const response = this.make(more);
    await this.store.put(response);
    return response;
  }

  /** Puts so many, each of which goes on from the one before. */
  async putChain(length: number): Promise<KeptResponse[]> {
    const chain: KeptResponse[] = [];
    while (chain.length < length) chain.push(await this.put({ previousResponseId: chain.at(-1)?.id }));
    return chain;
  }

  find(id: string): Promise<KeptResponse | undefined> {
    return this.store.find(this.account, id);
  }

  async findItems(...ids: string[]): Promise<Record<string, string>> {
    return Object.fromEntries(await this.store.findItems(this.account, ids));
  }
}

export function item(id: string, text = `the text of ${id}`): KeptItem {
  return { id, json: JSON.stringify({ id, type: "message", text }) };
}

/** What each part of the contract of response stores is defined with. */
export interface ResponseRulesInput extends AnyRunner {
  readonly fixture: () => Promise<ResponseFixture>;
  /** For how long the stores keep a response. */
  readonly ttlMs: number;
}

export function responseFixtures(make: MakeResponseStore): ResponseRulesInput["fixture"] {
  return async () => {
    const clock = new ManualClock(start);
    return new ResponseFixture(await make(clock), clock);
  };
}
