import type * as z from "zod";
import { toDotPath } from "zod/v4/core";
import { findWithin } from "../../access/store-lookup.js";
import { explainIssue } from "../../check/check-input.js";
import { problemsOf } from "../../check/list-problems.js";
import { GatewayError, invalidJson, invalidValue, serviceUnavailable, unknownUrl } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { HostRequest } from "../../http/host-request.js";
import type { GatewayRequest, GatewayResponse } from "../../http/message.js";
import { requireSameOrigin } from "../../http/origin.js";
import { type BodyOptions, PendingBodies, readBody } from "../../http/request-body.js";
import { TimeLimit } from "../../ledger/guard/time-limit.js";
import { matchRoutes, type PageAnswer, type PageRoute } from "./page-route.js";

const mostBytes = 64 * 1024;
const mostPendingBytes = 4 * 1024 * 1024;

/** The JSON API of a page. */
export class PageApi<Identity> {
  readonly #routes: readonly PageRoute<Identity>[];
  readonly #identity: IdentityRules<Identity>;
  readonly #origins: readonly string[] | undefined;
  readonly #limit = responseLimit();
  readonly bodies: BodyOptions = {
    maxBodyBytes: mostBytes,
    bodyTimeoutMs: 20_000,
    minBodyBytesPerSecond: 0,
    pendingBodies: new PendingBodies(mostPendingBytes, mostBytes),
  };

  constructor(
    routes: readonly PageRoute<Identity>[],
    identity: IdentityRules<Identity>,
    origins: readonly string[] | undefined,
  ) {
    this.#routes = routes;
    this.#identity = identity;
    this.#origins = origins;
  }

  /**
   * The order is part of the contract: what costs little and tells nothing comes first.
   * @param path - below `api/`.
   * @throws what {@link pageError} makes an answer of.
   */
  async answer(request: GatewayRequest, path: string): Promise<GatewayResponse> {
    const found = matchRoutes(this.#routes, path);
    if (found === undefined) throw unknownUrl(request.method, request.path);
    const route = found.routes.get(request.method === "HEAD" ? "GET" : request.method);
    if (route === undefined) throw methodNotAllowed(found.routes.keys());
    requireSameOrigin(request, this.#origins);
    if (route.body !== undefined) requireJson(request);
    const identity = await findIdentity(request, this.#identity);
    if (identity === undefined) throw signedOut();
    const query = parsed(route.query, queryOf(request));
    const body =
      route.body === undefined
        ? undefined
        : parsed(route.body, await this.#readJson(request, this.#identity.ownerOf(identity)));
    const call = { identity, params: found.params, query, body, request };
    const answer = route.answer(call as never);
    return toResponse(await (route.isPatient === true ? answer : this.#limit.race(answer)));
  }

  /** @param owner - who has a share of what bodies may take together. */
  async #readJson(request: GatewayRequest, owner: string): Promise<unknown> {
    try {
      const bytes = await readBody(request, owner, this.bodies);
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch (error) {
      if (error instanceof SyntaxError || (error instanceof TypeError && !("status" in error))) {
        throw invalidJson("The request body is not valid JSON.");
      }
      throw error;
    } finally {
      this.bodies.pendingBodies.drop(request);
    }
  }
}

function toResponse({ status = 200, json, headers, body }: PageAnswer): GatewayResponse {
  if (body !== undefined) return { status, headers: { ...headers }, body };
  if (json === undefined) return { status: status === 200 ? 204 : status, headers: { ...headers }, body: null };
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(json) };
}

function requireJson(request: GatewayRequest): void {
  if (/^application\/json\s*(?:;|$)/i.test(request.header("content-type")?.trim() ?? "")) return;
  throw new GatewayError("Send the body as JSON, with `content-type: application/json`.", {
    status: 415,
    code: "unsupported_media_type",
  });
}

function methodNotAllowed(known: Iterable<string>): GatewayError {
  const allow = [...known].join(", ");
  return new GatewayError(`This path takes ${allow}.`, { status: 405, code: "method_not_allowed", headers: { allow } });
}

/** The page says so, and asks no more. */
function signedOut(): GatewayError {
  return new GatewayError("You are signed out. Sign in again.", { status: 401, code: "signed_out" });
}

/** A name that comes twice is an error: one of the two would be ignored. */
function queryOf({ query }: GatewayRequest): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in values) throw invalidValue(name, `The query has '${name}' twice.`);
    values[name] = value;
  }
  return { ...values };
}

function parsed(schema: z.ZodObject | undefined, input: unknown): unknown {
  if (schema === undefined) {
    const [other] = Object.keys(input as object);
    if (other !== undefined) throw invalidValue(other, `There is no parameter '${other.slice(0, 100)}'.`);
    return undefined;
  }
  const result = schema.safeParse(input, { error: explainIssue("member") });
  if (result.success) return result.data;
  const [first] = result.error.issues;
  const keys = first?.code === "unrecognized_keys" ? first.keys.slice(0, 1) : [];
  const param = toDotPath([...(first?.path ?? []), ...keys]);
  throw invalidValue(param === "" ? null : param, problemsOf(result.error).join("; ").slice(0, 1000));
}

/** How a page finds who a request is from. */
export interface IdentityRules<Identity> {
  readonly identify: (request: HostRequest) => unknown;
  /** @throws TypeError that says what does not fit, and never a value. */
  readonly check: (found: unknown) => Identity;
  /** Who it is, for what all share. */
  readonly ownerOf: (identity: Identity) => string;
  readonly limit: TimeLimit;
  readonly warn: Warn;
}

/**
 * @returns `undefined`: nobody is signed in.
 * @throws GatewayError 503, after a warning, when the host's code fails or what it found does not fit: a host's bug must not
 * become somebody else's account.
 */
export async function findIdentity<Identity>(
  request: GatewayRequest,
  { identify, check, limit, warn }: IdentityRules<Identity>,
): Promise<Identity | undefined> {
  const fail = (problem: string, cause?: unknown): GatewayError => {
    const message = `\`identify\` of a page ${problem}. The request got a 503.`;
    warn({ code: "identify_failed", message, ...(cause !== undefined && { cause }) });
    return serviceUnavailable("Sign-in cannot be checked at the moment. Try again shortly.");
  };
  const hostRequest = request.hostRequest?.();
  if (hostRequest === undefined) return undefined;
  const found = await findWithin(() => identify(hostRequest), limit, fail);
  if (found === undefined || found === null || found === false) return undefined;
  try {
    return check(found);
  } catch (cause) {
    // What a getter of the host's throws may hold secrets.
    const problem = cause instanceof TypeError ? cause.message.replace(/\s*\n\s*/g, " ") : "it cannot be read";
    throw fail(`found an identity that does not fit: ${problem}`, cause);
  }
}

/** How long stores may take for an answer of a page. Browsers wait for it a little longer. */
const longestMs = 20_000;

function responseLimit(): TimeLimit {
  return new TimeLimit(longestMs);
}

/** Lets one at a time act on what has an id: what it reads stays so until it writes, as far as this process goes. */
export class Turns {
  readonly #limit = responseLimit();
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * @throws TimeLimitError when it takes too long, with the wait for the turn: a store that hangs must not stop all that come
   * later. What has not begun by then never does.
   */
  async take<Result>(id: string, act: () => Promise<Result>): Promise<Result> {
    let isOver = false;
    const before = this.#last.get(id) ?? Promise.resolve();
    const done = this.#limit.race(before.then(() => (isOver ? new Promise<Result>(() => {}) : act())));
    const settled = done.catch(() => {
      isOver = true;
    });
    this.#last.set(id, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(id) === settled) this.#last.delete(id);
    }
  }
}
