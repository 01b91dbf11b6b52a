import type { Lease } from "../../ledger/credit-ledger.js";
import { type Hash, hashLength, idHash } from "../../ledger/id-hash.js";
import type { Receipt } from "../../ledger/rules/reservation.js";

/** The entries of one period. */
interface PeriodEntries<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  set(key: string, value: Value): unknown;
  delete(key: string): unknown;
}

/**
 * A map that drops entries in bulk. It has two generations, and drops the older one when the newer one is a period old.
 * Each entry lives for at least one period, and at most two while entries keep coming. It needs no timer and no
 * bookkeeping per entry.
 */
export class RotatingMap<Value> {
  readonly #makeGeneration: (expected: number) => PeriodEntries<Value>;
  /**
   * Every entry that was set after this moment is still here, in epoch milliseconds; `-Infinity` while nothing was
   * dropped. This also holds after the clock was stepped.
   */
  forgottenUntil = Number.NEGATIVE_INFINITY;

  readonly #periodMs: number;
  #newer: PeriodEntries<Value>;
  #older: PeriodEntries<Value>;
  #newerSince = Number.NEGATIVE_INFINITY;
  #newerLatest = Number.NEGATIVE_INFINITY;
  #olderLatest = Number.NEGATIVE_INFINITY;

  /**
   * @param makeGeneration - makes the container for the entries of one period; it gets the number of entries of the
   * last period. Default: a `Map`.
   */
  constructor(periodMs: number, makeGeneration: (expected: number) => PeriodEntries<Value> = () => new Map()) {
    this.#periodMs = periodMs;
    this.#makeGeneration = makeGeneration;
    this.#newer = makeGeneration(0);
    this.#older = makeGeneration(0);
  }

  get size(): number {
    return this.#newer.size + this.#older.size;
  }

  get(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  /** Sets an entry. Its lifetime starts again. */
  set(key: string, value: Value, now: number): void {
    this.#rotate(now);
    this.#older.delete(key);
    this.#put(key, value, now);
  }

  /** The same for an entry that is not in the map; it saves the search. */
  add(key: string, value: Value, now: number): void {
    this.#rotate(now);
    this.#put(key, value, now);
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }

  #put(key: string, value: Value, now: number): void {
    this.#newer.set(key, value);
    if (now > this.#newerLatest) this.#newerLatest = now;
  }

  #rotate(now: number): void {
    // A clock that was stepped back must not keep a generation alive until it has caught up.
    if (now < this.#newerSince) this.#newerSince = now;
    if (now - this.#newerSince < this.#periodMs) return;
    this.forgottenUntil = Math.max(this.forgottenUntil, this.#olderLatest);
    this.#older = this.#newer;
    this.#olderLatest = this.#newerLatest;
    this.#newer = this.#makeGeneration(this.#older.size);
    this.#newerSince = now;
    this.#newerLatest = Number.NEGATIVE_INFINITY;
  }
}

const smallest = 256;
/** Receipts per chunk. */
const chunkLength = 4096;
/** An amount that no receipt has: the receipt was deleted. */
const deleted = -1;

/** An array of receipts, each with the hash of its id. */
class Chunk {
  readonly hashes = new Int32Array(chunkLength * hashLength);
  readonly amounts = new Float64Array(chunkLength);
  readonly expiries = new Float64Array(chunkLength);
  readonly prepaid = new Float64Array(chunkLength);
  // These are the accounts' own, and shared by all their receipts.
  readonly accounts: string[] = new Array(chunkLength);
  readonly starts: Lease["starts"][] = new Array(chunkLength);
  readonly ends: Lease["ends"][] = new Array(chunkLength);

  holds(index: number, key: Hash): boolean {
    const at = index * hashLength;
    const { hashes } = this;
    return hashes[at] === key[0] && hashes[at + 1] === key[1] && hashes[at + 2] === key[2] && hashes[at + 3] === key[3];
  }
}

/**
 * Receipts by id, in flat arrays. A busy ledger remembers hundreds of thousands for a minute or two; in flat arrays the
 * garbage collector sees next to nothing of them.
 *
 * Receipts stand in the order in which they came, in chunks that never move. Only their places are hashed, so that a
 * new one costs a single access to memory outside the caches. Deleted receipts keep their place. The table keeps
 * 128-bit hashes in place of ids. The gateway makes the ids, not its clients, so that no two ids can be made to share a
 * hash.
 */
export class ReceiptTable {
  #size = 0;
  /** The number of receipts, including deleted ones. */
  #filled = 0;
  readonly #chunks: Chunk[] = [];
  /**
   * Where each receipt is, by a part of its hash. The lower bits hold one more than the place of the receipt; 0 means
   * none. The upper bits are those of its hash, so that most other ids differ there. At least twice as many slots as
   * places are filled.
   */
  #slots: Int32Array;

  /** @param expected - the probable number of receipts. The table grows when there are more. */
  constructor(expected = 0) {
    this.#slots = new Int32Array(2 * 2 ** Math.ceil(Math.log2(Math.max(expected, smallest))));
  }

  get size(): number {
    return this.#size;
  }

  get(id: string): Receipt | undefined {
    if (this.#size === 0) return undefined;
    const place = this.#placeIn(this.#find(idHash(id)));
    if (place < 0) return undefined;
    const chunk = this.#chunkOf(place);
    const index = place % chunkLength;
    const amountMicro = chunk.amounts[index] as number;
    if (amountMicro === deleted) return undefined;
    return {
      account: chunk.accounts[index] as string,
      amountMicro,
      expiresAt: chunk.expiries[index] as number,
      starts: chunk.starts[index] as Lease["starts"],
      ends: chunk.ends[index] as Lease["ends"],
      prepaidMicro: chunk.prepaid[index] as number,
    };
  }

  set(id: string, receipt: Receipt): void {
    if (this.#filled * 2 === this.#slots.length) this.#grow();
    const key = idHash(id);
    const slot = this.#find(key);
    let place = this.#placeIn(slot);
    if (place < 0) {
      place = this.#append(key);
      this.#lead(slot, key[0] as number, place);
    }
    const chunk = this.#chunkOf(place);
    const index = place % chunkLength;
    if (chunk.amounts[index] === deleted) this.#size++;
    chunk.amounts[index] = receipt.amountMicro;
    chunk.expiries[index] = receipt.expiresAt;
    chunk.prepaid[index] = receipt.prepaidMicro ?? 0;
    chunk.accounts[index] = receipt.account;
    chunk.starts[index] = receipt.starts;
    chunk.ends[index] = receipt.ends;
  }

  delete(id: string): void {
    if (this.#size === 0) return;
    const place = this.#placeIn(this.#find(idHash(id)));
    if (place < 0) return;
    const { amounts } = this.#chunkOf(place);
    const index = place % chunkLength;
    if (amounts[index] === deleted) return;
    amounts[index] = deleted;
    this.#size--;
  }

  /** The slot that leads to the key, or else the empty one where it belongs. */
  #find(key: Hash): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const word = key[0] as number;
    let slot = word & mask;
    for (;;) {
      const found = slots[slot] as number;
      if (found === 0) return slot;
      // Where the upper bits differ, the chunk need not be read from memory.
      if (((found ^ word) & ~mask) === 0) {
        const place = (found & mask) - 1;
        if (this.#chunkOf(place).holds(place % chunkLength, key)) return slot;
      }
      slot = (slot + 1) & mask;
    }
  }

  /** -1 when the slot is empty. */
  #placeIn(slot: number): number {
    return ((this.#slots[slot] as number) & (this.#slots.length - 1)) - 1;
  }

  #lead(slot: number, word: number, place: number): void {
    this.#slots[slot] = (word & -this.#slots.length) | (place + 1);
  }

  #chunkOf(place: number): Chunk {
    return this.#chunks[Math.floor(place / chunkLength)] as Chunk;
  }

  /** A new place for the key. */
  #append(key: Hash): number {
    const place = this.#filled++;
    const index = place % chunkLength;
    if (index === 0) this.#chunks.push(new Chunk());
    const { hashes, amounts } = this.#chunkOf(place);
    hashes.set(key, index * hashLength);
    amounts[index] = deleted;
    return place;
  }

  /** Twice as many slots. The receipts stay where they are. */
  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    this.#slots = slots;
    for (let place = 0; place < this.#filled; place++) {
      const word = this.#chunkOf(place).hashes[(place % chunkLength) * hashLength] as number;
      let slot = word & mask;
      // All keys differ, so none need be compared.
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#lead(slot, word, place);
    }
  }
}
