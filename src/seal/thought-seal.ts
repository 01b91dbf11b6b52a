import { isRecord } from "../wire/is-record.js";
import type { PayloadSeal } from "./payload-seal.js";

/** What clients of one account keep of the thoughts of one target. */
export class ThoughtSeal {
  /** An opaque mark of the target: another model could not use the thoughts. Clients can read it. */
  readonly origin: string;
  readonly #seal: PayloadSeal;
  readonly #account: string;

  constructor(seal: PayloadSeal, account: string, origin: string) {
    this.#seal = seal;
    this.#account = account;
    this.origin = origin;
  }

  write(thoughts: object): string {
    return this.#seal.write(this.#account, JSON.stringify({ origin: this.origin, ...thoughts }));
  }

  /** `undefined` for what is another target's, another account's, another server's, or changed. */
  read(text: unknown): Record<string, unknown> | undefined {
    const json = this.#seal.open(this.#account, text);
    const value: unknown = json === undefined ? undefined : JSON.parse(json.toString());
    return isRecord(value) && value["origin"] === this.origin ? value : undefined;
  }
}
