import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Notifications } from "../../../src/stores/postgres/notifications.js";
import type { PostgresClient, PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";

/** A server that passes notices on, a step of the event loop at a time. */
class Broker {
  readonly clients = new Set<EventEmitter>();
  hangs = false;
  /** Queries that one client ran at the same time. */
  mostAtOnce = 0;

  readonly pool: PostgresPool = {
    query: async (_: string, [channel, payload]: readonly unknown[] = []) => {
      this.notify(String(channel), String(payload));
      return { rows: [] };
    },
    connect: async () => this.#connect(),
  };

  notify(channel: string, payload: string): void {
    for (const client of this.clients) {
      if (this.#channels(client).has(channel)) client.emit("notification", { channel, payload });
    }
  }

  readonly #heard = new WeakMap<EventEmitter, Set<string>>();
  #channels(client: EventEmitter): Set<string> {
    const channels = this.#heard.get(client) ?? new Set();
    this.#heard.set(client, channels);
    return channels;
  }

  #connect(): PostgresClient {
    const client = new EventEmitter();
    this.clients.add(client);
    let running = 0;
    return Object.assign(client, {
      query: async (sql: string) => {
        this.mostAtOnce = Math.max(this.mostAtOnce, ++running);
        await (this.hangs ? new Promise(() => {}) : undefined);
        running--;
        const [verb, channel = ""] = sql.split(" ");
        if (verb === "listen") this.#channels(client).add(channel);
        if (verb === "unlisten") this.#channels(client).delete(channel);
        return { rows: [] };
      },
      release: () => this.clients.delete(client),
    }) as unknown as PostgresClient;
  }
}

const steps = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step++) await Promise.resolve();
};

describe("notifications on one connection", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("reach who subscribes at any step of a reconnection that the last subscriber did not wait for", async () => {
    for (let left = 0; left < 40; left++) {
      for (let came = left; came < 60; came++) {
        const broker = new Broker();
        const notifications = new Notifications({ pool: broker.pool, schema: "infergate" } as never);
        const end = await notifications.subscribe("first", () => {});
        for (const client of broker.clients) client.emit("end");
        vi.advanceTimersByTime(100);
        await steps(left);
        const ended = end();
        await steps(came - left);
        const heard: string[] = [];
        const endSecond = await notifications.subscribe("second", (payload) => heard.push(payload));
        await ended;
        broker.notify("second", `${left}-${came}`);
        expect(heard).toEqual([`${left}-${came}`]);
        await endSecond();
        expect(broker.clients.size).toBe(0);
      }
    }
  });

  it("send one query after the other, as pg wants it", async () => {
    const broker = new Broker();
    const notifications = new Notifications({ pool: broker.pool, schema: "infergate" } as never);
    const heard: string[] = [];
    const subscribe = (channel: string) => notifications.subscribe(channel, (payload) => heard.push(payload));
    const ends = await Promise.all(["first", "second", "third"].map(subscribe));
    // With the heartbeat.
    vi.advanceTimersByTime(30_000);
    ends.push(...(await Promise.all(["fourth", "fifth"].map(subscribe))));
    for (const channel of ["first", "second", "third", "fourth", "fifth"]) broker.notify(channel, channel);
    expect(heard).toEqual(["first", "second", "third", "fourth", "fifth"]);
    expect(broker.mostAtOnce).toBe(1);
    for (const end of ends) await end();
  });

  it("give up a reconnection that hangs, also when the last subscriber has left", async () => {
    const broker = new Broker();
    const notifications = new Notifications({ pool: broker.pool, schema: "infergate" } as never);
    const end = await notifications.subscribe("first", () => {});
    broker.hangs = true;
    for (const client of broker.clients) client.emit("end");
    await vi.advanceTimersByTimeAsync(100);
    expect(broker.clients.size).toBe(1);
    await end();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(broker.clients.size).toBe(0);
  });
});
