import type { Lease } from "./credit-ledger.js";
import type { Receipt } from "./receipt.js";

const lanes = 4;
const smallest = 256;
const empty = 0;
const taken = 1;
const deleted = 2;

/**
 * Receipts by id, in flat arrays: of the hundreds of thousands that a busy ledger remembers for a minute or two, the
 * garbage collector sees next to nothing. Ids are kept as 128-bit hashes. They are made by the gateway and not by
 * its clients, so that two with the same hash need not be feared.
 */
export class ReceiptTable {
  #capacity = smallest;
  #size = 0;
  /** Deleted slots included: they are in the way until the table grows. */
  #filled = 0;
  #states = new Uint8Array(smallest);
  #hashes = new Uint32Array(smallest * lanes);
  #amounts = new Float64Array(smallest);
  #expiries = new Float64Array(smallest);
  // These are the accounts' own, and shared by all their receipts.
  #subjects: string[] = new Array(smallest);
  #starts: Lease["starts"][] = new Array(smallest);
  #ends: Lease["ends"][] = new Array(smallest);

  get size(): number {
    return this.#size;
  }

  get(id: string): Receipt | undefined {
    if (this.#size === 0) return undefined;
    const slot = this.#find(hash(id));
    if (this.#states[slot] !== taken) return undefined;
    return {
      subject: this.#subjects[slot] as string,
      amount: this.#amounts[slot] as number,
      expiresAt: this.#expiries[slot] as number,
      starts: this.#starts[slot] as Lease["starts"],
      ends: this.#ends[slot] as Lease["ends"],
    };
  }

  set(id: string, receipt: Receipt): void {
    if (this.#filled * 2 >= this.#capacity) this.#rebuild();
    const key = hash(id);
    const slot = this.#find(key);
    if (this.#states[slot] !== taken) {
      this.#states[slot] = taken;
      this.#hashes.set(key, slot * lanes);
      this.#size++;
      this.#filled++;
    }
    this.#amounts[slot] = receipt.amount;
    this.#expiries[slot] = receipt.expiresAt;
    this.#subjects[slot] = receipt.subject;
    this.#starts[slot] = receipt.starts;
    this.#ends[slot] = receipt.ends;
  }

  delete(id: string): void {
    if (this.#size === 0) return;
    const slot = this.#find(hash(id));
    if (this.#states[slot] !== taken) return;
    this.#states[slot] = deleted;
    this.#size--;
  }

  /** The slot that holds the key, or else the empty one where it belongs. */
  #find(key: Uint32Array): number {
    const mask = this.#capacity - 1;
    let slot = (key[0] as number) & mask;
    while (this.#states[slot] !== empty && !(this.#states[slot] === taken && this.#holds(slot, key))) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #holds(slot: number, key: Uint32Array): boolean {
    const at = slot * lanes;
    const hashes = this.#hashes;
    return hashes[at] === key[0] && hashes[at + 1] === key[1] && hashes[at + 2] === key[2] && hashes[at + 3] === key[3];
  }

  /** Twice as large, unless it is only full of deleted slots. */
  #rebuild(): void {
    const old = {
      states: this.#states,
      hashes: this.#hashes,
      amounts: this.#amounts,
      expiries: this.#expiries,
      subjects: this.#subjects,
      starts: this.#starts,
      ends: this.#ends,
    };
    const capacity = this.#size * 4 >= this.#capacity ? this.#capacity * 2 : this.#capacity;
    this.#capacity = capacity;
    this.#filled = this.#size;
    this.#states = new Uint8Array(capacity);
    this.#hashes = new Uint32Array(capacity * lanes);
    this.#amounts = new Float64Array(capacity);
    this.#expiries = new Float64Array(capacity);
    this.#subjects = new Array(capacity);
    this.#starts = new Array(capacity);
    this.#ends = new Array(capacity);
    for (let slot = 0; slot < old.states.length; slot++) {
      if (old.states[slot] !== taken) continue;
      const key = old.hashes.subarray(slot * lanes, slot * lanes + lanes);
      const to = this.#find(key);
      this.#states[to] = taken;
      this.#hashes.set(key, to * lanes);
      this.#amounts[to] = old.amounts[slot] as number;
      this.#expiries[to] = old.expiries[slot] as number;
      this.#subjects[to] = old.subjects[slot] as string;
      this.#starts[to] = old.starts[slot] as Lease["starts"];
      this.#ends[to] = old.ends[slot] as Lease["ends"];
    }
  }
}

const scratch = new Uint32Array(lanes);

/** Four lanes of multiply-and-mix over the text's UTF-16 units, mixed with each other at the end (cyrb128). */
function hash(text: string): Uint32Array {
  let a = 1779033703;
  let b = 3144134277;
  let c = 1013904242;
  let d = 2773480762;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ unit, 597399067);
    b = c ^ Math.imul(b ^ unit, 2869860233);
    c = d ^ Math.imul(c ^ unit, 951274213);
    d = a ^ Math.imul(d ^ unit, 2716044179);
  }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  scratch[0] = a ^ b ^ c ^ d;
  scratch[1] = b ^ a;
  scratch[2] = c ^ a;
  scratch[3] = d ^ a;
  return scratch;
}
