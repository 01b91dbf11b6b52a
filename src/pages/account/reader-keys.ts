import { GatewayError } from "../../errors/gateway-error.js";
import type { ManagedKey } from "../../gateway/admin/managed-keys.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { Clock } from "../../ledger/calendar.js";
import { Turns } from "../server/page-api.js";
import { notFound } from "../server/page-route.js";
import type { Reader } from "./reader.js";

const dayMs = 86_400_000;
/**
 * How many times the keys that may be in force may be new in a day for one of the role to make another. Members leave some
 * to the owner, who may have to replace a key that has leaked.
 */
const newPerDay: Readonly<Record<Reader["role"], number>> = { member: 10, owner: 20 };

/** Whether a reader may see and change what carries these tags. */
function isOwnTags({ role, tags: own }: Reader, tags: Readonly<Record<string, string>> | null): boolean {
  return role === "owner" || Object.entries(own).every(([name, value]) => tags?.[name] === value);
}

/** The keys that a reader sees, and how many of them are in force. */
export class ReaderKeys {
  readonly #gateway: Gateway;
  readonly #clock: Clock;
  /** How many keys of an account may be in force. */
  readonly most: number;
  /** Of accounts: their keys are counted before each that is made. */
  readonly #turns = new Turns();

  constructor(gateway: Gateway, clock: Clock, most: number) {
    this.#gateway = gateway;
    this.#clock = clock;
    this.most = most;
  }

  /** The newest first. */
  async list(reader: Reader): Promise<readonly ManagedKey[]> {
    const keys = await this.#gateway.keys.list(reader.account);
    return keys.filter(({ tags }) => isOwnTags(reader, tags)).toReversed();
  }

  /** @throws GatewayError 404 for a key of another, as for one that is not there. */
  async find(reader: Reader, id: string): Promise<ManagedKey> {
    const key = await this.#gateway.keys.get(id);
    if (key === undefined || key.account !== reader.account || !isOwnTags(reader, key.tags)) throw notFound();
    return key;
  }

  /**
   * Makes one more key of an account, one at a time.
   * @throws GatewayError 409 when it has the most that it may have; 429 when too many were made in a day.
   */
  async add<Made>(reader: Reader, make: () => Promise<Made>): Promise<Made> {
    return this.#makeNew(reader, this.most, make);
  }

  /** Changes a key. One that has expired and gets another end counts as one more. @throws GatewayError 409 as of `add`. */
  async change<Changed>({ account }: Reader, key: ManagedKey, isExtended: boolean, change: () => Promise<Changed>) {
    return isExtended && !this.#isInForce(key) ? this.#inTurn(account, this.most, change) : change();
  }

  /**
   * Replaces a key. One that goes on to work for a while counts until it ends: each key may have one that does, so that
   * there may be twice as many.
   * @throws GatewayError 409, 429 as of `add`
   */
  async replace<Made>(reader: Reader, goesOn: boolean, replace: () => Promise<Made>): Promise<Made> {
    return this.#makeNew(reader, goesOn ? 2 * this.most : Infinity, replace);
  }

  async #makeNew<Made>({ account, role }: Reader, most: number, make: () => Promise<Made>): Promise<Made> {
    return this.#inTurn(account, most, (keys) => {
      this.#requireFewNew(keys, role);
      return make();
    });
  }

  async #inTurn<Done>(
    account: string,
    most: number,
    act: (keys: readonly ManagedKey[]) => Promise<Done>,
  ): Promise<Done> {
    return this.#turns.take(account, async () => {
      const keys = await this.#gateway.keys.list(account);
      if (keys.filter((key) => this.#isInForce(key)).length >= most) throw tooManyKeys(most);
      return await act(keys);
    });
  }

  /** Keys that are made and revoked in turn are never many in force, but stores keep them all. */
  #requireFewNew(keys: readonly ManagedKey[], role: Reader["role"]): void {
    const most = newPerDay[role] * this.most;
    const since = this.#clock.now() - dayMs;
    const made = keys.map(({ createdAt }) => createdAt).filter((createdAt) => createdAt > since);
    const last = made.sort((one, other) => other - one)[most - 1];
    if (last !== undefined) throw tooManyNewKeys(most, last - since);
  }

  /**
   * How many keys of the account are neither revoked nor expired, and how many of them the reader sees. How many their
   * colleagues have is a member's to know only when there may be no more.
   */
  async count(reader: Reader): Promise<{ readonly in_force: number; readonly own: number }> {
    const keys = await this.#listInForce(reader.account);
    const own = keys.filter(({ tags }) => isOwnTags(reader, tags)).length;
    const isFull = keys.length >= this.most;
    return { in_force: reader.role === "owner" || isFull ? keys.length : own, own };
  }

  async #listInForce(account: string): Promise<readonly ManagedKey[]> {
    return (await this.#gateway.keys.list(account)).filter((key) => this.#isInForce(key));
  }

  #isInForce({ expiresAt, revokedAt }: ManagedKey): boolean {
    return this.#clock.now() < Math.min(expiresAt ?? Infinity, revokedAt ?? Infinity);
  }
}

function tooManyKeys(most: number): GatewayError {
  return new GatewayError(`This account has ${most} keys, the most that it may have. Revoke one that is not used.`, {
    status: 409,
    code: "too_many_keys",
  });
}

function tooManyNewKeys(most: number, waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000);
  return new GatewayError(
    `This account has ${most} keys of the last 24 hours. Use those that it has, or wait for another.`,
    {
      status: 429,
      code: "too_many_new_keys",
      headers: { "retry-after": String(seconds) },
    },
  );
}

/** What the routes of the account page work with. */
export interface AccountServices {
  readonly gateway: Gateway;
  readonly keys: ReaderKeys;
  readonly clock: Clock;
  /** The tag that tells members apart. */
  readonly memberTag: string;
}
