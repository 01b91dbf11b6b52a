import type { Lease } from "./credit-ledger.js";
import type { Receipt } from "./receipt.js";

const lanes = 4;
const smallest = 256;
/** An amount that none has: the receipt was deleted. */
const deleted = -1;

/**
 * Receipts by id, in flat arrays: of the hundreds of thousands that a busy ledger remembers for a minute or two, the
 * garbage collector sees next to nothing. They stand in the order in which they came, and only their places are hashed,
 * so that a new one costs a single access to memory that is in no cache. Ids are kept as 128-bit hashes. They are made by
 * the gateway and not by its clients, so that two with the same hash need not be feared.
 */
export class ReceiptTable {
  #size = 0;
  /** Deleted receipts included. */
  #filled = 0;
  /** One more than the place of the receipt; 0 where there is none. Twice as many as places. */
  #slots: Int32Array;
  #hashes: Uint32Array;
  #amounts: Float64Array;
  #expiries: Float64Array;
  // These are the accounts' own, and shared by all their receipts.
  #subjects: string[];
  #starts: Lease["starts"][];
  #ends: Lease["ends"][];

  /** @param expected - how many receipts there will probably be; room for more is made when it comes to that. */
  constructor(expected = 0) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(expected, smallest)));
    this.#slots = new Int32Array(capacity * 2);
    this.#hashes = new Uint32Array(capacity * lanes);
    this.#amounts = new Float64Array(capacity);
    this.#expiries = new Float64Array(capacity);
    this.#subjects = new Array(capacity);
    this.#starts = new Array(capacity);
    this.#ends = new Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  get(id: string): Receipt | undefined {
    if (this.#size === 0) return undefined;
    const place = this.#placeOf(id);
    if (place < 0 || this.#amounts[place] === deleted) return undefined;
    return {
      subject: this.#subjects[place] as string,
      amount: this.#amounts[place] as number,
      expiresAt: this.#expiries[place] as number,
      starts: this.#starts[place] as Lease["starts"],
      ends: this.#ends[place] as Lease["ends"],
    };
  }

  set(id: string, receipt: Receipt): void {
    if (this.#filled === this.#amounts.length) this.#rebuild();
    const key = hash(id);
    const slot = this.#find(key);
    let place = (this.#slots[slot] as number) - 1;
    if (place < 0) {
      place = this.#filled++;
      this.#slots[slot] = place + 1;
      this.#hashes.set(key, place * lanes);
      this.#size++;
    } else if (this.#amounts[place] === deleted) {
      this.#size++;
    }
    this.#amounts[place] = receipt.amount;
    this.#expiries[place] = receipt.expiresAt;
    this.#subjects[place] = receipt.subject;
    this.#starts[place] = receipt.starts;
    this.#ends[place] = receipt.ends;
  }

  delete(id: string): void {
    if (this.#size === 0) return;
    const place = this.#placeOf(id);
    if (place < 0 || this.#amounts[place] === deleted) return;
    this.#amounts[place] = deleted;
    this.#size--;
  }

  #placeOf(id: string): number {
    return (this.#slots[this.#find(hash(id))] as number) - 1;
  }

  /** The slot that leads to the key, or else the empty one where it belongs. */
  #find(key: Uint32Array): number {
    const mask = this.#slots.length - 1;
    let slot = (key[0] as number) & mask;
    for (;;) {
      const place = this.#slots[slot] as number;
      if (place === 0 || this.#holds(place - 1, key)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #holds(place: number, key: Uint32Array): boolean {
    const at = place * lanes;
    const hashes = this.#hashes;
    return hashes[at] === key[0] && hashes[at + 1] === key[1] && hashes[at + 2] === key[2] && hashes[at + 3] === key[3];
  }

  /** Without the deleted ones; twice as large, unless they were the most. */
  #rebuild(): void {
    const { length } = this.#amounts;
    const capacity = this.#size * 2 >= length ? length * 2 : length;
    const old = {
      hashes: this.#hashes,
      amounts: this.#amounts,
      expiries: this.#expiries,
      subjects: this.#subjects,
      starts: this.#starts,
      ends: this.#ends,
    };
    this.#filled = 0;
    this.#slots = new Int32Array(capacity * 2);
    this.#hashes = new Uint32Array(capacity * lanes);
    this.#amounts = new Float64Array(capacity);
    this.#expiries = new Float64Array(capacity);
    this.#subjects = new Array(capacity);
    this.#starts = new Array(capacity);
    this.#ends = new Array(capacity);
    for (let from = 0; from < length; from++) {
      if (old.amounts[from] === deleted) continue;
      const to = this.#filled++;
      const key = old.hashes.subarray(from * lanes, from * lanes + lanes);
      this.#slots[this.#find(key)] = to + 1;
      this.#hashes.set(key, to * lanes);
      this.#amounts[to] = old.amounts[from] as number;
      this.#expiries[to] = old.expiries[from] as number;
      this.#subjects[to] = old.subjects[from] as string;
      this.#starts[to] = old.starts[from] as Lease["starts"];
      this.#ends[to] = old.ends[from] as Lease["ends"];
    }
  }
}

const scratch = new Uint32Array(lanes);
let hashed: string | undefined;

/** Four lanes of multiply-and-mix over the text's UTF-16 units, mixed with each other at the end (cyrb128). */
function hash(text: string): Uint32Array {
  // One id is looked for in several tables in turn.
  if (text === hashed) return scratch;
  hashed = text;
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
