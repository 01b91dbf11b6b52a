import { isRecord } from "../../wire/is-record.js";
import { ObjectScan } from "../../wire/pieces/object-scan.js";
import { type CallJson, isCallText, repairedCall, repairText, repairTexts } from "./tool-calls.js";

/** A tool call of which something has come. */
interface StreamedCall {
  /** Its place among the calls, in the order in which they begin. */
  readonly index: number;
  /** The server's own; `undefined`: it has sent none. */
  readonly id: string | undefined;
  /** Empty until it has come. */
  name: string;
  hasArguments: boolean;
  readonly scan: ObjectScan;
}

/** What a delta says of the call that it belongs to. */
interface CallPiece {
  /** The server's; `undefined`: it has sent none. */
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** Not empty. */
  readonly arguments: string | undefined;
}

/**
 * Tells apart the tool calls of one streamed choice, and writes their deltas as clients need them. Clients add up what has one
 * index. Servers leave it out, give all calls the same, or count it on with each piece; they repeat ids and names, or make a
 * new id for each piece. So a new id with a name begins a call whatever its index, and a new id without a name does not.
 */
export class StreamedCalls {
  readonly #calls: StreamedCall[] = [];
  /** By the server's index: the latest of them. */
  readonly #ofIndex = new Map<number, StreamedCall>();
  readonly #ofId = new Map<string, StreamedCall>();
  /** The call to which the latest delta belongs. */
  #last: StreamedCall | undefined;

  /** How many calls have begun. */
  get size(): number {
    return this.#calls.length;
  }

  /** Changes the parsed deltas in place. @returns whether anything was changed. */
  repair(deltas: readonly unknown[]): boolean {
    let repaired = false;
    for (const delta of deltas) if (isRecord(delta) && this.#repairOne(delta)) repaired = true;
    return repaired;
  }

  #repairOne(delta: CallJson): boolean {
    let repaired = repairTexts(delta);
    const piece = pieceOf(delta);
    const known = this.#callOf(piece);
    const call = known ?? this.#begin(piece);
    this.#last = call;
    if (piece.index !== undefined) this.#ofIndex.set(piece.index, call);
    if (known === undefined ? completeFirst(delta) : shortenLater(delta, call)) repaired = true;
    if (delta["index"] !== call.index) {
      delta["index"] = call.index;
      repaired = true;
    }
    if (call.name === "" && piece.name !== undefined) call.name = piece.name;
    if (piece.arguments !== undefined) {
      call.hasArguments = true;
      call.scan.read(piece.arguments);
    }
    return repaired;
  }

  #begin({ id, name = "" }: CallPiece): StreamedCall {
    const call = { index: this.#calls.length, id, name, hasArguments: false, scan: new ObjectScan() };
    this.#calls.push(call);
    if (id !== undefined) this.#ofId.set(id, call);
    return call;
  }

  /** The call that a delta goes on with; `undefined`: it begins one. */
  #callOf(piece: CallPiece): StreamedCall | undefined {
    const { index, id, name } = piece;
    const ofIndex = index === undefined ? undefined : this.#ofIndex.get(index);
    const isOfBoth = ofIndex !== undefined && (id === undefined || id === ofIndex.id);
    const known = isOfBoth ? ofIndex : ((id === undefined ? undefined : this.#ofId.get(id)) ?? ofIndex);
    if (name !== undefined) {
      const call = known ?? (index === undefined ? this.#last : undefined);
      return call !== undefined && goesOn(call, piece, ofIndex !== undefined) ? call : undefined;
    }
    if (index === undefined) return known ?? this.#last;
    // Arguments are never those of a call that nothing else says the beginning of.
    if (ofIndex !== undefined || piece.arguments !== undefined)
      return known ?? (id === undefined ? this.#last : undefined);
    return undefined;
  }
}

/**
 * Whether a delta that has a name goes on with a call.
 * @param isPlaced - it has the index of the call.
 */
function goesOn(call: StreamedCall, piece: CallPiece, isPlaced: boolean): boolean {
  if (call.name === "") return true;
  const { id } = piece;
  const isAlike = call.name === piece.name;
  const hasMore = piece.arguments !== undefined;
  // Some servers repeat all that they know of a call with each piece of its arguments.
  if (isAlike && call.hasArguments && !call.scan.isComplete) return true;
  if (id !== undefined && id !== call.id) return isAlike && !call.hasArguments && hasMore;
  // Perhaps a further piece of its name.
  if (!isAlike) return isPlaced && !call.hasArguments;
  return !call.scan.isComplete || (isPlaced && (id !== undefined || !hasMore));
}

function pieceOf(delta: CallJson): CallPiece {
  const { index, id, function: called } = delta;
  const { name, arguments: args } = isRecord(called) ? called : {};
  return {
    index: indexOf(index),
    id: isCallText(id) ? id : typeof id === "number" ? String(id) : undefined,
    name: isCallText(name) ? name : customName(delta),
    arguments: isCallText(args) ? args : undefined,
  };
}

function customName({ custom }: CallJson): string | undefined {
  return isRecord(custom) && isCallText(custom["name"]) ? custom["name"] : undefined;
}

function indexOf(index: unknown): number | undefined {
  const number = isCallText(index) ? Number(index) : index;
  return Number.isInteger(number) ? (number as number) : undefined;
}

/** The first delta of a call has all that clients require. */
function completeFirst(delta: CallJson): boolean {
  const ownId = isCallText(delta["id"]) ? "" : `call_${crypto.randomUUID().replaceAll("-", "")}`;
  const repaired = repairedCall(delta, ownId);
  if (delta["type"] !== "function") return repaired;
  if (isRecord(delta["function"])) return repairText(delta["function"], "arguments", "") || repaired;
  delta["function"] = { name: "", arguments: "" };
  return true;
}

/** Clients that join all texts of one index would join ids and names that are repeated, too. */
function shortenLater(delta: CallJson, call: StreamedCall): boolean {
  let repaired = false;
  const { id, function: called } = delta;
  if (isCallText(id) || typeof id === "number") {
    delete delta["id"];
    repaired = true;
  }
  if (isRecord(called) && call.name !== "" && called["name"] === call.name) {
    delete called["name"];
    repaired = true;
  }
  return repaired;
}
