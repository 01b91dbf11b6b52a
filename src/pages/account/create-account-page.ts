import * as z from "zod";
import { isTagName } from "../../check/text-schemas.js";
import { withoutRepeats } from "../../events/warning.js";
import type { Mountable } from "../../gateway/gateway.js";
import { type CheckedPageOptions, makePage } from "../server/make-page.js";
import { pageFiles } from "../server/page-files.js";
import {
  checkPageOptions,
  type PageOptions,
  pageAddress,
  pageOptionsShape,
  pageWarn,
  textsSchema,
} from "../server/page-options.js";
import type { PageRoute } from "../server/page-route.js";
import { type AccountTexts, accountTexts } from "./account-texts.js";
import { keyChanges, listKeys } from "./key-routes.js";
import { memberRoute, meRoute } from "./me-routes.js";
import { modelsRoute, tryRoute } from "./model-routes.js";
import { type AccountIdentity, checkReader, type Reader, refuseWithoutPlan } from "./reader.js";
import { type AccountServices, ReaderKeys } from "./reader-keys.js";
import { chargeRoute, requestsRoute, statementRoute, usageRoute } from "./usage-routes.js";

/**
 * What {@link createAccountPage} takes.
 *
 * @typeParam Raw - what the host's framework calls a request, such as `express.Request`.
 */
export interface AccountPageOptions<Raw = unknown> extends PageOptions<AccountIdentity, Raw> {
  /** The page only shows: what changes keys is not there. Default: `false`. */
  readOnly?: boolean | undefined;
  /**
   * How many keys of an account may be in force at once for its page to make another. Where ten times as many are no older
   * than 24 hours, members make none, and where twenty times as many are, owners: that is a 429 `too_many_new_keys`.
   * Default: 20.
   */
  maxKeys?: number | undefined;
  /** Readers may call a model from the page; their credits pay. Default: `true`. */
  tryModels?: boolean | undefined;
  /** The tag that tells the members of an account apart, for its owner's list of them. Default: `member`. */
  memberTag?: string | undefined;
  /**
   * Where clients call the gateway, for the snippets of the page: a path of the page's origin, or a URL, such as `/ai/v1`.
   * Default: the gateway's `basePath` and `/v1`.
   */
  apiUrl?: string | undefined;
  /** The texts of the page that differ, by their names. Default: English. */
  texts?: Partial<AccountTexts> | undefined;
}

const optionsSchema = z.strictObject({
  ...pageOptionsShape,
  readOnly: z.boolean().default(false),
  maxKeys: z.number().int().min(1).max(10_000).default(20),
  tryModels: z.boolean().default(true),
  memberTag: z.string().refine(isTagName, { error: "must be the name of a tag" }).default("member"),
  apiUrl: pageAddress.optional(),
  texts: textsSchema(accountTexts),
});

/**
 * Makes the page on which people see what is left of an account, make keys and try models. Mount it as the gateway, at a path
 * of its own.
 * @throws TypeError when the options are not valid; the message says what to fix.
 *
 * @example
 * ```ts
 * const account = createAccountPage({
 *   gateway,
 *   identify: ({ raw }) => raw.user && { account: raw.user.id },
 * });
 * app.use("/account/api", toExpressHandler(account));
 * ```
 */
export function createAccountPage<Raw = unknown>(options: AccountPageOptions<Raw>): Mountable {
  const { readOnly, maxKeys, tryModels, memberTag, apiUrl, texts, ...checked } = checkPageOptions(
    "createAccountPage",
    optionsSchema,
    options,
  );
  const { gateway, clock } = checked;
  const warnOnce = withoutRepeats(pageWarn((checked as CheckedPageOptions).onWarning));
  const services = { gateway, clock, memberTag, keys: new ReaderKeys(gateway, clock, maxKeys) };
  return makePage(checked as CheckedPageOptions, {
    entry: pageFiles.account,
    title: "API access",
    noScript: "This page needs JavaScript. GET /v1/usage of the API has the same figures.",
    data: "me",
    check: checkReader,
    ownerOf: ({ account }) => account,
    routes: accountRoutes(services, { readOnly, tryModels }).map((route) => refuseWithoutPlan(route, warnOnce)),
    settings: ({ locale, role }) => ({ locale, role, apiUrl: apiUrl ?? `${gateway.basePath}/v1`, texts }),
    langOf: ({ locale }) => locale,
  });
}

/** What a page lets its readers do. */
interface AccountPermissions {
  readonly readOnly: boolean;
  readonly tryModels: boolean;
}

/** The API of the account page. What it does not let its readers do has no routes. */
function accountRoutes(
  services: AccountServices,
  { readOnly, tryModels }: AccountPermissions,
): readonly PageRoute<Reader>[] {
  return [
    meRoute(services, { change_keys: !readOnly, try_models: tryModels }),
    listKeys(services),
    usageRoute(services),
    requestsRoute(services),
    statementRoute(services),
    chargeRoute(services),
    modelsRoute(services),
    memberRoute(services),
    ...(readOnly ? [] : keyChanges(services)),
    ...(tryModels ? [tryRoute(services)] : []),
  ];
}
