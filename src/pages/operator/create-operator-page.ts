import * as z from "zod";
import type { Mountable } from "../../gateway/gateway.js";
import type { LiveRequests } from "../../observe/live-requests.js";
import { type CheckedPageOptions, makePage } from "../server/make-page.js";
import { pageFiles } from "../server/page-files.js";
import { checkPageOptions, type PageOptions, pageOptionsShape, textsSchema } from "../server/page-options.js";
import type { PageRoute } from "../server/page-route.js";
import { accountChanges, operatorKeyChanges, operatorKeyRoute } from "./account-changes.js";
import { accountHistoryRoute, accountRoute, accountsRoute } from "./account-routes.js";
import {
  modelChanges,
  modelCheckRoute,
  operatorModelsRoute,
  planChanges,
  planCheckRoute,
  plansRoute,
} from "./document-routes.js";
import { checkOperator, type Operator, type OperatorIdentity, type OperatorServices } from "./operator-services.js";
import { type OperatorTexts, operatorTexts } from "./operator-texts.js";
import { healthRoute, operatorUsageRoute, overviewRoute, targetsRoute } from "./overview-routes.js";
import { auditRoute, liveRoute, oneRequestRoute, requestLogRoute } from "./request-routes.js";

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

/** The API of the operator's page. One that is read-only has no route with another method than GET. */
function operatorRoutes(services: OperatorServices): readonly PageRoute<Operator>[] {
  const { live, readOnly } = services;
  return [
    healthRoute(services),
    overviewRoute(services),
    operatorUsageRoute(services),
    targetsRoute(services),
    accountsRoute(services),
    accountRoute(services),
    accountHistoryRoute(services),
    operatorKeyRoute(services),
    plansRoute(services),
    operatorModelsRoute(services),
    requestLogRoute(services),
    oneRequestRoute(services),
    auditRoute(services),
    ...(live === undefined ? [] : [liveRoute(live)]),
    ...(readOnly ? [] : changes(services)),
  ];
}

function changes(services: OperatorServices): readonly PageRoute<Operator>[] {
  return [
    ...accountChanges(services),
    ...operatorKeyChanges(services),
    planCheckRoute(services),
    ...planChanges(services),
    modelCheckRoute(services),
    ...modelChanges(services),
  ];
}
