import * as z from "zod";
import { type AuditEntry, auditActions } from "../../audit/audit-trail.js";
import { invalidValue } from "../../errors/gateway-error.js";
import type { RequestCompleted } from "../../events/request-completed.js";
import type { LiveRequest, LiveRequests } from "../../observe/live-requests.js";
import type { LoggedRequest, StatusFilter } from "../../request-log/request-log.js";
import { notFound, type PageRoute, pageRoute, toCredits, toSeconds } from "../server/page-route.js";
import { secondsText } from "../server/usage-bounds.js";
import type { OperatorAuditEntry, OperatorLive, OperatorRequest } from "./operator-page-api.js";
import { idQuery, type Operator, type OperatorServices, orNull, pageShape } from "./operator-services.js";

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

const shown = 100;

/** What this process is serving, and what has failed lately. */
export function liveRoute(live: LiveRequests): PageRoute<Operator> {
  return pageRoute<Operator>({
    method: "GET",
    path: "live",
    async answer() {
      const json: OperatorLive = {
        count: live.count,
        requests: live.list().slice(0, shown).map(toLive),
        failures: live.failures().slice(0, shown).map(toFailure),
      };
      return { json };
    },
  });
}

function toLive(request: LiveRequest): OperatorLive["requests"][number] {
  const { requestId, endpoint, startedAt, elapsedMs, state, account, keyId, model, stream, heldMicro, attempt } =
    request;
  return {
    ...{ id: requestId, endpoint, at: toSeconds(startedAt), elapsed_ms: Math.round(elapsedMs), state },
    ...{ account: orNull(account), key: orNull(keyId), model: orNull(model), stream: orNull(stream) },
    held: toCredits(orNull(heldMicro)),
    target: attempt === undefined ? null : `${attempt.provider}/${attempt.model}`,
    attempt: orNull(attempt?.number),
  };
}

function toFailure({ endpoint, ...event }: Readonly<RequestCompleted>): OperatorLive["failures"][number] {
  const last = event.attempts.at(-1);
  const target = last === undefined ? {} : { target: `${last.provider}/${last.model}` };
  const { count: _, ...request } = toOperatorRequest({
    ...{ ...event, lineId: "-", ...target },
    ...(endpoint !== undefined && { endpoint }),
  });
  return request;
}

/** Neither what was asked and answered, nor what a model server said: it may hold parts of prompts. */
function toOperatorRequest(request: LoggedRequest): OperatorRequest {
  const { requestId, startedAt, stream, status, tags, tokens, durations, attempts, count = 1 } = request;
  const { endpoint, account, plan, keyId, source, model, requestedModel, target, errorCode, endReason } = request;
  return {
    ...{ id: requestId, at: toSeconds(startedAt), endpoint: orNull(endpoint), account: orNull(account) },
    ...{ plan: orNull(plan), key: orNull(keyId), source: orNull(source), tags: tags ?? {}, model: orNull(model) },
    ...{ requested_model: orNull(requestedModel), target: orNull(target), stream, status },
    ...{ code: orNull(errorCode), end: orNull(endReason), cached: request.usageSource === "cache" },
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    credits: toCredits(request.chargedMicro),
    cost: toCredits(orNull(request.costMicro)),
    duration_ms: Math.round(durations.total),
    first_output_ms: durations.firstByte === undefined ? null : Math.round(durations.firstByte),
    count,
    attempts: attempts.map((attempt) => ({
      provider: attempt.provider,
      model: attempt.model,
      status: orNull(attempt.status),
      outcome: attempt.outcome,
      started_ms: Math.round(attempt.startedMs),
      duration_ms: Math.round(attempt.durationMs),
      upstream_request_id: orNull(attempt.upstreamRequestId),
    })),
  };
}
