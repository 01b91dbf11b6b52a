import * as z from "zod";
import type { Mountable } from "../../gateway/gateway.js";
import { type CheckedPageOptions, makePage } from "../server/make-page.js";
import { pageFiles } from "../server/page-files.js";
import { checkPageOptions, type PageOptions, pageOptionsShape } from "../server/page-options.js";
import { pageTexts } from "../server/page-texts.js";
import { checkOperator, type OperatorIdentity } from "./operator-identity.js";
import { operatorRoutes } from "./operator-routes.js";

/**
 * What {@link createOperatorPage} takes.
 *
 * @typeParam Raw - what the host's framework calls a request, such as `express.Request`.
 */
export interface OperatorPageOptions<Raw = unknown> extends PageOptions<OperatorIdentity, Raw> {}

const optionsSchema = z.strictObject(pageOptionsShape);

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
  const checked = checkPageOptions("createOperatorPage", optionsSchema, options) as CheckedPageOptions;
  return makePage(checked, {
    entry: pageFiles.operator,
    title: "AI gateway",
    noScript: "This page needs JavaScript.",
    check: checkOperator,
    routes: operatorRoutes(checked.gateway),
    settings: ({ locale }) => ({ locale, texts: pageTexts }),
    langOf: ({ locale }) => locale,
  });
}
