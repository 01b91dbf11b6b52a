import { GatewayError } from "../../errors/gateway-error.js";
import type { ManagedKey } from "../../gateway/admin/managed-keys.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { Clock } from "../../ledger/clock.js";
import { notFound } from "../server/page-error.js";
import { Turns } from "../server/turns.js";
import type { Reader } from "./account-identity.js";

/** Whether a reader may see and change what carries these tags. */
export function isOwnTags({ role, tags: own }: Reader, tags: Readonly<Record<string, string>> | null): boolean {
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
   * Puts one more key of an account in force, one at a time.
   * @throws GatewayError 409 when it has the most that it may have.
   */
  async add<Added>({ account }: Reader, add: () => Promise<Added>): Promise<Added> {
    return this.#addBelow(this.most, account, add);
  }

  /** Changes a key. One that has expired and gets another end counts as one more. @throws GatewayError 409 as of `add`. */
  async change<Changed>(reader: Reader, key: ManagedKey, isExtended: boolean, change: () => Promise<Changed>) {
    return isExtended && !this.#isInForce(key) ? this.add(reader, change) : change();
  }

  /**
   * Replaces a key that goes on to work for a while. Each key may have one that ends, so that there may be twice as many.
   * @throws GatewayError 409
   */
  async replace<Made>({ account }: Reader, replace: () => Promise<Made>): Promise<Made> {
    return this.#addBelow(2 * this.most, account, replace);
  }

  async #addBelow<Added>(most: number, account: string, add: () => Promise<Added>): Promise<Added> {
    return this.#turns.take(account, async () => {
      if ((await this.#listInForce(account)).length >= most) throw tooManyKeys(most);
      return await add();
    });
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
