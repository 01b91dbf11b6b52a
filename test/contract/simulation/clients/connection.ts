import type { Owner } from "../engine/event-heap.js";
import type { Random } from "../engine/random.js";
import type { VirtualWorld } from "../engine/virtual-world.js";
import type { Operation, Outcome, StoreServer } from "../store/store-server.js";

/** What happens to messages on their way. */
export interface NetworkOptions {
  /** There and back, from and to. */
  readonly tripMs: readonly [least: number, most: number];
  /** The part of scripts that get lost, before or after the store has run them. */
  readonly lost: number;
  /** The part of scripts that arrive twice. */
  readonly repeated: number;
}

export interface ConnectionOptions {
  readonly world: VirtualWorld;
  readonly random: Random;
  readonly network: NetworkOptions;
  readonly server: StoreServer;
  readonly owner: Owner;
}

/** Of what gets lost, the part of which the sender sees nothing, not even a broken connection. */
const silent = 0.1;
/** Clients try to connect again after growing pauses. */
const longestReconnectMs = 500;

interface Call {
  resolve(outcomes: readonly Outcome[]): void;
  reject(error: Error): void;
}

/** A process's connection to a store. What goes over it arrives in the order in which it was sent. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #open = new Set<Call>();
  #lastArrival = 0;
  #lastReply = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { world, owner, server } = options;
    server.onFailure(() => {
      for (const call of this.#open) world.after(this.#tripMs() / 2, () => this.#break(call), owner);
    });
  }

  /** Calls the listener when the process is connected again to a store that was away. @returns ends that. */
  onReconnected(listener: () => void): () => void {
    const { world, random, owner, server } = this.#options;
    return server.onReturn(() => world.after(random.between(0, longestReconnectMs), listener, owner));
  }

  /** Rejects when the connection breaks: then it is not known whether the store has run them. */
  run(operations: readonly Operation[]): Promise<readonly Outcome[]> {
    const { random, network } = this.#options;
    return new Promise((resolve, reject) => {
      const call: Call = { resolve, reject };
      this.#open.add(call);
      const isLost = random.next() < network.lost;
      if (isLost && random.next() < 0.5) {
        this.#lose(call);
        return;
      }
      this.#send(operations, call, isLost);
      if (random.next() < network.repeated) this.#send(operations, undefined, true);
    });
  }

  #send(operations: readonly Operation[], call: Call | undefined, isReplyLost: boolean): void {
    const { world, server, owner } = this.#options;
    this.#lastArrival = Math.max(this.#lastArrival, world.now + this.#tripMs() / 2);
    world.afterAlways(this.#lastArrival - world.now, () => {
      if (!server.isUp) {
        if (call !== undefined) world.after(this.#tripMs() / 2, () => this.#break(call), owner);
        return;
      }
      server.receive(operations, (outcomes) => {
        if (call === undefined) return;
        if (isReplyLost) this.#lose(call);
        else this.#reply(call, outcomes);
      });
    });
  }

  #reply(call: Call, outcomes: readonly Outcome[]): void {
    const { world, owner } = this.#options;
    this.#lastReply = Math.max(this.#lastReply, world.now + this.#tripMs() / 2);
    world.after(
      this.#lastReply - world.now,
      () => {
        if (this.#open.delete(call)) call.resolve(outcomes);
      },
      owner,
    );
  }

  #lose(call: Call): void {
    const { world, random, owner } = this.#options;
    if (random.next() < silent) this.#open.delete(call);
    else world.after(this.#tripMs(), () => this.#break(call), owner);
  }

  #break(call: Call): void {
    if (this.#open.delete(call)) call.reject(new Error("The connection broke."));
  }

  #tripMs(): number {
    const { random, network } = this.#options;
    return random.between(...network.tripMs);
  }
}
