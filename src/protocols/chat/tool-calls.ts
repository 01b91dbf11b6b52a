import { isRecord } from "../../wire/is-record.js";
import { ObjectScan } from "../../wire/object-scan.js";

/** A call as it is written in a message, or a piece of one in a delta. */
type CallJson = Record<string, unknown>;

/**
 * Completes the tool calls of a whole message, and makes texts of their arguments, in place.
 * @param idPrefix - ids that the server leaves out begin with it.
 * @returns whether anything was changed.
 */
export function repairToolCalls(message: Record<string, unknown>, idPrefix: string): boolean {
  const calls = message["tool_calls"];
  let repaired = repairText(message["function_call"], "arguments", "{}");
  if (!Array.isArray(calls)) return repaired;
  for (const [index, call] of calls.entries()) {
    if (!isRecord(call)) continue;
    if (repairTexts(call, "{}")) repaired = true;
    if (repairedCall(call, `${idPrefix}${index}`)) repaired = true;
  }
  return repaired;
}

/**
 * Adds the members that clients require: `type`, and an `id` where the server has none.
 * @returns whether anything was changed.
 */
function repairedCall(call: CallJson, ownId: string): boolean {
  let repaired = false;
  if (!isCallText(call["id"])) {
    call["id"] = typeof call["id"] === "number" ? String(call["id"]) : ownId;
    repaired = true;
  }
  if (!isCallText(call["type"])) {
    call["type"] = isRecord(call["custom"]) ? "custom" : "function";
    repaired = true;
  }
  return repaired;
}

/**
 * Makes a text of what a tool gets, in place: clients parse it. Some servers send the object itself.
 * @param name - of the member: what a function gets is `arguments`, and what another tool gets `input`.
 * @param absent - stands for what is not there; `undefined`: nothing does.
 * @returns whether anything was changed.
 */
export function repairText(called: unknown, name: string, absent?: string): boolean {
  if (!isRecord(called)) return false;
  const given = called[name] ?? undefined;
  if (typeof given === "string" || (given === undefined && absent === undefined)) return false;
  called[name] = given === undefined ? absent : JSON.stringify(given);
  return true;
}

/** The same for a call, or a piece of one. */
export function repairTexts(call: CallJson, absent?: string): boolean {
  const isRepaired = repairText(call["function"], "arguments", absent);
  return repairText(call["custom"], "input") || isRepaired;
}

function isCallText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

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
