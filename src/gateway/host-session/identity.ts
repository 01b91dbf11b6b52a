import type { HostRequest } from "../../http/host-request.js";
import type { Instant } from "../../keys/key-store.js";
import type { ReturnedTags } from "../../metering/tags.js";

/** Who a request is from: what {@link GatewayOptions.identify} finds. */
export interface Identity {
  /**
   * The account whose credits the request uses. At most 128 characters, well-formed Unicode without control characters.
   * What a missing value becomes as a text, such as `"undefined"`, is refused.
   */
  account: string;
  /**
   * Id of the account's plan. It counts for accounts without a record in `accounts`: where there is a record, its plan and
   * its anchor count, and what is given here does not. A difference is a warning `terms_differ`.
   * Default: the one of the account's keys, which is looked up for each request.
   */
  plan?: string | undefined;
  /**
   * Where the account's weeks and months begin; `null`: Monday and the first of the month. It counts where `plan` does.
   * Default: as its keys have it; with `plan` and no keys, the default of `null`.
   */
  anchor?: Instant | null | undefined;
  /**
   * What its calls are filed under in the journal, in usage and in events, such as `{ member: user.id }`: at most 16, with the
   * names and values that `onRequest` may give. Default: nothing.
   */
  tags?: ReturnedTags | undefined;
  /** What people call the account. The gateway's endpoints do not use it. */
  name?: string | undefined;
  /** The language of the person, such as `de-AT` (BCP 47). The gateway's endpoints do not use it. */
  locale?: string | undefined;
}

/** What {@link GatewayOptions.identify} answers with: falsy where nobody is signed in. */
export type Identified = Identity | null | undefined | false;

/**
 * Finds who a request is from.
 *
 * @typeParam Raw - what the host's framework calls a request.
 */
export type Identify<Raw = unknown> = (request: HostRequest<Raw>) => Identified | Promise<Identified>;
