import * as z from "zod";
import { auditActions } from "../../books/audit/audit-actions.js";
import type { AuditEntry } from "../../books/audit/audit-trail.js";
import type { StatusFilter } from "../../books/requests/request-log.js";
import { invalidValue } from "../../errors/gateway-error.js";
import { notFound } from "../server/page-error.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toSeconds } from "../server/units.js";
import { idQuery, orNull, pageShape, secondsText } from "./operator-input.js";
import type { OperatorAuditEntry } from "./operator-page-api.js";
import type { Operator, OperatorServices } from "./operator-services.js";
import { toOperatorRequest } from "./to-operator-request.js";

const text = z.string().min(1).max(256).optional();
const requestsQuery = z.strictObject({
  ...pageShape(200),
  ...{ account: text, key: text, model: text, code: text },
  target: z.string().min(1).max(1000).optional(),
  /** Such as `429`, `4xx`, or several with commas between. */
  status: z
    .string()
    .regex(/^(?:[1-5]\d\d|[1-5]xx)(?:,(?:[1-5]\d\d|[1-5]xx)){0,19}$/, 'must be such as "429" or "4xx,5xx"')
    .optional(),
  /** A name and a value, such as `member=42`. */
  tag: z.string().max(600).optional(),
  from: secondsText.optional(),
  to: secondsText.optional(),
});
const auditQuery = z.strictObject({
  ...pageShape(200),
  ...{ account: text, key: text, by: text },
  action: z.enum(auditActions).optional(),
  from: secondsText.optional(),
  to: secondsText.optional(),
});

/** The request log, the newest first. What was asked and answered is never in it. */
export function requestLogRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof requestsQuery>({
    method: "GET",
    path: "requests",
    query: requestsQuery,
    async answer({ query: { status, tag, from, to, ...rest } }) {
      const { requests, cursor } = await gateway.requests.list({
        ...rest,
        ...timesOf(from, to),
        ...(tag !== undefined && { tag: tagOf(tag) }),
        ...(status !== undefined && { status: status.split(",").map(toStatus) }),
      });
      return { json: { data: requests.map(toOperatorRequest), next: cursor ?? null } };
    },
  });
}

export function oneRequestRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof idQuery>({
    method: "GET",
    path: "request",
    query: idQuery,
    async answer({ query: { id } }) {
      const request = await gateway.requests.get(id);
      if (request === undefined) throw notFound();
      return { json: toOperatorRequest(request) };
    },
  });
}

/** Who has changed what, and why. */
export function auditRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof auditQuery>({
    method: "GET",
    path: "audit",
    query: auditQuery,
    async answer({ query: { from, to, ...rest } }) {
      const { entries, cursor } = await gateway.audit.list({ ...rest, ...timesOf(from, to) });
      return { json: { data: entries.map(toAuditEntry), next: cursor ?? null } };
    },
  });
}

function timesOf(from: number | undefined, to: number | undefined): { from?: number; to?: number } {
  return { ...(from !== undefined && { from: from * 1000 }), ...(to !== undefined && { to: to * 1000 }) };
}

function toStatus(status: string): StatusFilter {
  return status.endsWith("xx") ? (status as StatusFilter) : Number(status);
}

function tagOf(tag: string): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(tag) ?? [];
  if (name === undefined || value === undefined) throw invalidValue("tag", "`tag` must be such as `member=42`.");
  return { [name]: value };
}

function toAuditEntry({ id, at, action, outcome, by, note, account, movedTo, key, plan, ...rest }: AuditEntry) {
  const entry: OperatorAuditEntry = {
    ...{ id, at: toSeconds(at), action, outcome, by: orNull(by), note: orNull(note) },
    ...{ account: orNull(account), moved_to: orNull(movedTo), key: orNull(key), plan: orNull(plan) },
    ...{ model: orNull(rest.model), budget: orNull(rest.budget) },
    ...{ given: orNull(rest.given), before: orNull(rest.before), after: orNull(rest.after) },
  };
  return entry;
}
