import { Buffer } from "node:buffer";
import type { ResponseMark } from "../prices/progress.js";
import {
  type ClientCall,
  callProvider,
  type DirectCall,
  type DirectResponse,
  type HandoverListener,
} from "../providers/direct-call.js";
import { UpstreamError, type UpstreamProvider } from "../providers/upstream-provider.js";
import { type BodyIterator, iteratorOf } from "../wire/piece-source.js";
import { bySize } from "../wire/slices.js";
import {
  type CachedResponse,
  decodeResponse,
  encodeResponse,
  freshBytes,
  freshPieces,
  takeApart,
} from "./cached-response.js";
import { MemoryResponseCache } from "./memory-response-cache.js";
import { type CacheWishes, dependsOnItself, readCacheWishes, requestKey } from "./request-key.js";
import type { ResponseCacheStore } from "./response-cache-store.js";
import { WatchedStore } from "./watched-store.js";

/** How responses are kept, resolved. */
interface ResolvedOptions {
  readonly mode: "ask" | "always";
  readonly ttlMs: number;
  readonly maxBytes: number;
  readonly maxResponseBytes: number;
  readonly share: number;
  readonly store?: ResponseCacheStore | undefined;
}

/** A call of the gateway's, of which a response may be kept. */
interface KeepingCall {
  readonly call: DirectCall;
  readonly listener: HandoverListener;
  readonly client: ClientCall;
}

/** Where something is kept. */
interface Place {
  readonly account: string;
  readonly key: string;
}

/** In the place of a response that is given to nobody again. */
const nothing = new Uint8Array();

const modeHeader = "x-infergate-cache";

/** A response with such an end may be another one the next time, or was none of the model's. */
const passingEnds: ReadonlySet<string | undefined> = new Set(["content_filter", "error", "refusal"]);

/** Sends requests to a provider, unless the response to an equal one of the account was kept. */
export class ResponseCache {
  readonly #provider: UpstreamProvider;
  readonly #options: ResolvedOptions;
  readonly #store: WatchedStore;
  readonly #copies: CopyTerms;
  /** How often accounts were forgotten: calls that began before keep nothing. */
  #forgotten = 0;

  constructor(provider: UpstreamProvider, options: ResolvedOptions) {
    const { maxBytes, maxResponseBytes, store } = options;
    this.#provider = provider;
    this.#options = options;
    this.#store = new WatchedStore(store ?? new MemoryResponseCache(maxBytes, Date));
    this.#copies = { most: maxResponseBytes, room: { left: maxBytes } };
  }

  call(call: DirectCall, listener?: HandoverListener, client?: ClientCall): Promise<DirectResponse> {
    const asked = client?.client.header(modeHeader)?.trim().toLowerCase();
    const isFor = this.#options.mode === "always" || asked === "on";
    // Only the gateway charges a share, and tells whose call it is.
    if (!isFor || listener === undefined || client === undefined) {
      return callProvider(this.#provider, call, listener, client);
    }
    return this.#visit({ call, listener, client }, asked === "off");
  }

  /** @throws what the store throws. */
  async forget(account: string): Promise<void> {
    this.#forgotten++;
    await this.#store.forget(account);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #visit(asking: KeepingCall, isOff: boolean): Promise<DirectResponse> {
    const { call, listener, client } = asking;
    const wishes = readCacheWishes(client.client.header("cache-control"));
    const place = isOff || wishes.noStore ? undefined : await this.#placeOf(call, client);
    const kept = place && (await this.#find(place, wishes, client.services));
    // While the store was asked, the client may have left: nothing was sent for it.
    if (call.notice.aborted) throw new UpstreamError("aborted", "The call was aborted.");
    if (place !== undefined && kept !== undefined) return this.#again(place, kept, asking);
    const begun = this.#forgotten;
    const answer = await callProvider(this.#provider, call, listener, client);
    if (place === undefined || answer.status !== 200) {
      listener.respondsOn({ headers: headersOf(call, "bypass") });
      return answer;
    }
    const copied = new CopiedBody(answer, this.#copies);
    listener.respondsOn({
      headers: headersOf(call, "miss"),
      completed: (mark) => this.#keep({ ...place, begun }, copied, asking, mark),
    });
    return copied;
  }

  /** @returns `undefined`: the response may be another one the next time. */
  async #placeOf(call: DirectCall, { admission, operation }: ClientCall): Promise<Place | undefined> {
    const { account } = call;
    const { request, additions } = admission;
    const { comparable } = request;
    if (account === undefined || comparable === undefined || additions !== undefined) return undefined;
    if (!(await bySize(comparable.body.length, dependsOnItself(comparable, operation.table)))) return undefined;
    const key = await requestKey(call, this.#provider.secrets?.().urls);
    return key === undefined ? undefined : { account, key };
  }

  async #find(
    { account, key }: Place,
    { noCache, maxAgeMs }: CacheWishes,
    services: ClientCall["services"],
  ): Promise<CachedResponse | undefined> {
    const found = noCache ? undefined : await this.#store.get(account, key, services);
    const kept = found && decodeResponse(found);
    if (kept === undefined) return undefined;
    // A clock that was set back does not make responses live for longer.
    const isFresh = Math.abs(services.clock.now() - kept.keptAt) < Math.min(this.#options.ttlMs, maxAgeMs);
    return isFresh ? kept : undefined;
  }

  /** Whoever leaves pays for what has come, as with any response. */
  #again({ account, key }: Place, kept: CachedResponse, { call, listener, client }: KeepingCall): DirectResponse {
    const { services } = client;
    const now = services.clock.now();
    const { callId } = client.admission;
    const values = { callId: callId.slice(callId.indexOf("_") + 1), now };
    const age = String(Math.max(0, Math.floor((now - kept.keptAt) / 1000)));
    listener.handedOver();
    listener.respondsOn({
      headers: { ...headersOf(call, "hit"), age },
      share: this.#options.share,
      // What one client cannot be told, such as one of another API, would fail for each that comes.
      failed: () => services.background.add(this.#store.put(account, key, nothing, { ttlMs: 1, services }), callId),
    });
    return {
      status: 200,
      headers: { "content-type": kept.contentType },
      // It is made as its client takes it.
      body: laterPieces(kept, values),
      takeWhole: () => freshBytes(kept, values),
    };
  }

  #keep(
    { account, key, begun }: Place & { readonly begun: number },
    copied: CopiedBody,
    { call, client }: KeepingCall,
    mark: ResponseMark | undefined,
  ): void {
    const bytes = copied.copy;
    if (bytes === undefined || passingEnds.has(mark?.finishReason)) return;
    // Images that come as links are gone after a while.
    if (call.endpoint.startsWith("images/") && bytes.includes('"http')) return;
    const { services, admission } = client;
    const contentType = copied.headers["content-type"] ?? "";
    const keptAt = services.clock.now();
    const put = async (): Promise<void> => {
      const apart = await bySize(bytes.length, takeApart(bytes, contentType));
      if (this.#forgotten !== begun) return;
      const value = encodeResponse({ ...apart, contentType, keptAt });
      await this.#store.put(account, key, value, { ttlMs: this.#options.ttlMs, services });
    };
    // A response of whose text something is wrong has reached its client all the same.
    services.background.add(
      put().catch(() => {}),
      admission.callId,
    );
  }
}

/** Others must not keep what is an account's own, nor change what comes in pieces. */
function headersOf({ expects }: DirectCall, state: "hit" | "miss" | "bypass"): Record<string, string> {
  const isWhole = expects === "document";
  return {
    [modeHeader]: state,
    "cache-control": isWhole ? "private, no-store" : "private, no-store, no-transform",
  };
}

async function* laterPieces(...kept: Parameters<typeof freshPieces>): AsyncGenerator<Uint8Array, undefined> {
  yield* freshPieces(...kept);
}

/** Bounds what copies of responses under way take together. */
interface CopyTerms {
  /** The longest response that is kept, in bytes. */
  readonly most: number;
  /** The bytes that all of them may still take. */
  readonly room: { left: number };
}

/** A response on its way to its client, of which a copy is kept, unless it is too long. */
export class CopiedBody implements DirectResponse, AsyncIterableIterator<Uint8Array, undefined> {
  readonly status: number;
  readonly headers: DirectResponse["headers"];
  readonly body = this;
  readonly #answer: DirectResponse;
  readonly #terms: CopyTerms;
  #pieces: BodyIterator | undefined;
  /** `undefined`: nothing is kept of it. */
  #copies: Uint8Array[] | undefined = [];
  #length = 0;
  #taken = 0;
  #isOver = false;

  constructor(answer: DirectResponse, terms: CopyTerms) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.#answer = answer;
    this.#terms = terms;
  }

  /** What has come; `undefined`: it was too long, or broke off. */
  get copy(): Buffer | undefined {
    return this.#copies && Buffer.concat(this.#copies, this.#length);
  }

  takeWhole(): Uint8Array | undefined {
    const whole = this.#answer.takeWhole?.();
    if (whole === undefined) return undefined;
    this.#length = whole.length;
    this.#copies = whole.length > this.#terms.most ? undefined : [whole];
    return whole;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#pieces ??= iteratorOf(this.#answer.body);
    try {
      const step = await this.#pieces.next();
      if (step.done) this.#giveBack();
      else this.#add(step.value);
      return step;
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  /** Nobody reads on. What has come may be all that there is: the call knows. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#isOver = true;
    this.#giveBack();
    this.#pieces ??= iteratorOf(this.#answer.body);
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  #add(piece: Uint8Array): void {
    // A piece that was asked for before nobody read on comes too late.
    if (this.#copies === undefined || this.#isOver) return;
    const { most, room } = this.#terms;
    const { byteLength } = piece;
    if (this.#length + byteLength > most || byteLength > room.left) {
      this.#drop();
      return;
    }
    room.left -= byteLength;
    this.#taken += byteLength;
    this.#length += byteLength;
    // Whoever relays it may write over it.
    this.#copies.push(Buffer.from(piece));
  }

  #drop(): void {
    this.#giveBack();
    this.#copies = undefined;
  }

  #giveBack(): void {
    this.#terms.room.left += this.#taken;
    this.#taken = 0;
  }
}
