import * as z from "zod";
import type { Mountable } from "../../gateway/gateway.js";
import type { LiveRequests } from "../../gateway/observers/live-requests.js";
import { type CheckedPageOptions, makePage } from "../server/make-page.js";
import { pageFiles } from "../server/page-files.js";
import { checkPageOptions, type PageOptions, pageOptionsShape, textsSchema } from "../server/page-options.js";
import { checkOperator, type OperatorIdentity } from "./operator-identity.js";
import { operatorRoutes } from "./operator-routes.js";
import { type OperatorTexts, operatorTexts } from "./operator-texts.js";

/**
 * What {@link createOperatorPage} takes.
 *
 * @typeParam Raw - what the host's framework calls a request, such as `express.Request`.
 */
export interface OperatorPageOptions<Raw = unknown> extends PageOptions<OperatorIdentity, Raw> {
  /** The page only shows: what changes something is not there. Default: `false`. */
  readOnly?: boolean | undefined;
  /** What the gateway has among its `observers`, for the page to list live requests. Default: it lists none. */
  live?: LiveRequests | undefined;
  /** The texts of the page that differ, by their names. Default: English. */
  texts?: Partial<OperatorTexts> | undefined;
}

const optionsSchema = z.strictObject({
  ...pageOptionsShape,
  readOnly: z.boolean().default(false),
  live: z
    .custom<LiveRequests>((value) => typeof (value as LiveRequests | undefined)?.failures === "function", {
      error: "must be what createLiveRequests() made",
    })
    .optional(),
  texts: textsSchema(operatorTexts),
});

/**
 * Makes the page on which the operator of a gateway watches and manages it. Mount it behind the host's own protection of its
 * administration.
 * @throws TypeError when the options are not valid; the message says what to fix.
 *
 * @example
 * ```ts
 * const operator = createOperatorPage({
 *   gateway,
 *   identify: ({ raw }) => raw.user?.isAdmin && { operator: raw.user.mail },
 * });
 * app.use("/admin/ai", requireAdmin, toExpressHandler(operator));
 * ```
 */
export function createOperatorPage<Raw = unknown>(options: OperatorPageOptions<Raw>): Mountable {
  const { readOnly, live, texts, ...checked } = checkPageOptions("createOperatorPage", optionsSchema, options);
  const { gateway, clock } = checked;
  return makePage(checked as CheckedPageOptions, {
    entry: pageFiles.operator,
    title: "AI gateway",
    noScript: "This page needs JavaScript.",
    check: checkOperator,
    ownerOf: ({ operator }) => operator,
    routes: operatorRoutes({ gateway, clock, live, readOnly }),
    settings: ({ locale }) => ({ locale, texts }),
    langOf: ({ locale }) => locale,
  });
}
