import type { ReserveRequest, ReserveResult } from "../../../../src/ledger/credit-ledger.js";
import type { Demand, Traffic } from "../clients/traffic.js";
import type { VirtualWorld } from "../engine/virtual-world.js";
import { type Call, observedMicro } from "./call.js";

/** What really happened, beside what the ledgers know of it. */
export class TrueBooks {
  readonly calls: Call[] = [];
  /** Denied, though limit less true costs, of calls that are over and under way, would have admitted it. */
  wrongDenials = 0;
  /** Of these, while something was held for calls of dead processes. */
  wrongByCrash = 0;
  /** The largest of (used + held − limit) / amount after an admission: below 1 if the ledger is right. */
  mostOverdrawn = Number.NEGATIVE_INFINITY;
  /** Micro-credits times seconds, held for calls of dead processes. */
  blockedMicroSeconds = 0;
  blockedHolds = 0;
  /** The largest part of an account's limit that was so held. */
  mostBlocked = 0;
  readonly #world: VirtualWorld;
  readonly #traffic: Traffic;
  /** By account: what calls that are over have cost, what those under way will, and what is held for the dead. */
  readonly #spent: Float64Array;
  readonly #underWay: Float64Array;
  readonly #blocked: Float64Array;
  readonly #byId = new Map<string, Call>();

  constructor(world: VirtualWorld, traffic: Traffic, accounts: number) {
    this.#world = world;
    this.#traffic = traffic;
    this.#spent = new Float64Array(accounts);
    this.#underWay = new Float64Array(accounts);
    this.#blocked = new Float64Array(accounts);
  }

  ask(demand: Demand): Call {
    const call: Call = {
      ...{ ...demand, id: `call_${this.calls.length}`, state: "asked", startedAt: 0, spentMicro: 0 },
      ...{ heldUntil: undefined, blockedSince: undefined, isOfDead: false },
    };
    this.calls.push(call);
    this.#byId.set(call.id, call);
    return call;
  }

  start(call: Call): void {
    call.state = "underWay";
    call.startedAt = this.#world.now;
    add(this.#underWay, call.account, call.costMicro);
  }

  deny(call: Call): void {
    const { account } = call;
    call.state = "denied";
    const used = (this.#spent[account] as number) + (this.#underWay[account] as number);
    if (used >= this.#traffic.sessionMicro(account)) return;
    this.wrongDenials++;
    if ((this.#blocked[account] as number) > 0) this.wrongByCrash++;
  }

  end(call: Call): void {
    call.state = "ended";
    this.#spend(call, call.costMicro);
  }

  /** Its process has died. */
  kill(call: Call): void {
    call.isOfDead = true;
    if (call.state === "underWay") this.#spend(call, observedMicro(call, this.#world.now));
    if (call.state !== "ended") call.state = "killed";
    this.#block(call);
  }

  /** What a store has done, at the moment at which it did it. */
  admitted({ id, amountMicro, leaseMs }: ReserveRequest, result: ReserveResult): void {
    const call = this.#byId.get(id);
    if (call === undefined || !result.ok || result.replayed) return;
    for (const { usedMicro, heldMicro, limitMicro } of Object.values(result.windows)) {
      if (limitMicro === null) continue;
      this.mostOverdrawn = Math.max(this.mostOverdrawn, (usedMicro + heldMicro - limitMicro) / amountMicro);
    }
    this.#hold(call, leaseMs);
  }

  renewed(id: string, leaseMs: number): void {
    const call = this.#byId.get(id);
    if (call?.heldUntil !== undefined) this.#hold(call, leaseMs);
  }

  settled(id: string): void {
    const call = this.#byId.get(id);
    if (call === undefined) return;
    call.heldUntil = undefined;
    this.#unblock(call);
  }

  #spend(call: Call, micro: number): void {
    call.spentMicro = micro;
    add(this.#underWay, call.account, -call.costMicro);
    add(this.#spent, call.account, micro);
  }

  #hold(call: Call, leaseMs: number): void {
    call.heldUntil = this.#world.now + leaseMs;
    if (call.isOfDead) this.#block(call);
  }

  #block(call: Call): void {
    const { heldUntil, holdMicro, account } = call;
    if (heldUntil === undefined) return;
    if (call.blockedSince === undefined) {
      call.blockedSince = this.#world.now;
      this.blockedHolds++;
      add(this.#blocked, account, holdMicro);
      const share = (this.#blocked[account] as number) / this.#traffic.sessionMicro(account);
      this.mostBlocked = Math.max(this.mostBlocked, share);
    }
    this.#world.afterAlways(heldUntil - this.#world.now, () => {
      if (call.heldUntil === heldUntil) this.#unblock(call);
    });
  }

  #unblock(call: Call): void {
    const { blockedSince, holdMicro, account } = call;
    if (blockedSince === undefined) return;
    call.blockedSince = undefined;
    this.blockedMicroSeconds += (holdMicro * (this.#world.now - blockedSince)) / 1_000;
    add(this.#blocked, account, -holdMicro);
  }
}

function add(amounts: Float64Array, account: number, micro: number): void {
  amounts[account] = (amounts[account] as number) + micro;
}
