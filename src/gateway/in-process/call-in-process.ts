import * as z from "zod";
import type { Caller } from "../../access/caller.js";
import { ownCounters } from "../../access/counter-name.js";
import { ModelPatterns } from "../../access/model-patterns.js";
import { RateRules } from "../../access/rate-rules.js";
import { checkInput } from "../../check/check-input.js";
import { idText } from "../../check/id-text.js";
import { ratesSchema } from "../../check/rates-schema.js";
import {
  type ErrorObject,
  GatewayError,
  invalidValue,
  isGatewayError,
  serviceUnavailable,
} from "../../errors/gateway-error.js";
import type { TimeLimit } from "../../guard/time-limit.js";
import { keyAccount, keyModels, keyTags, wholeInstant } from "../../keys/check-key.js";
import { Calendar } from "../../ledger/windows.js";
import { sharedTags } from "../../metering/tags.js";
import { serve } from "../../server/serve.js";
import type { ServerServices } from "../../server/server-services.js";
import type { UsageReport } from "../../server/usage-report.js";
import type { AccountTermsLookup, FoundTerms, GivenTerms } from "../admin/account-terms.js";
import { requireLimitsKept } from "../admin/require-limits-kept.js";
import { refusedUnknownAccount } from "../refusals/refused-unknown-account.js";
import { UnknownAccountError } from "../refusals/unknown-account-error.js";
import { UnknownTermsError } from "../refusals/unknown-terms-error.js";
import { toWebResponse } from "../web-bridge.js";
import { WebRequest } from "../web-request.js";
import type { InProcess, InProcessCaller } from "./in-process.js";
import { type InProcessRequest, inProcessURL, toInProcessRequest } from "./in-process-request.js";
import { keptResponse } from "./kept-response.js";
import { unlessAborted } from "./unless-aborted.js";

const callerInput = z.strictObject({
  account: keyAccount,
  plan: idText().optional(),
  anchor: wholeInstant,
  models: keyModels,
  key: idText().default("server"),
  tags: keyTags,
  name: z.unknown().optional(),
  locale: z.unknown().optional(),
  rates: ratesSchema,
  signal: z.instanceof(AbortSignal, { error: "must be an AbortSignal" }).optional(),
});

/** What calls in process work with. */
export interface InProcessServices {
  readonly server: ServerServices;
  readonly terms: AccountTermsLookup;
  readonly maxStallMs: number;
  /** How long the stores may take. */
  readonly timeLimit: TimeLimit;
}

const by = "gateway.as";

/** @throws TypeError when what is given is not valid. */
export function callInProcess(services: InProcessServices, given: InProcessCaller): InProcess {
  const { server, maxStallMs } = services;
  const { signal, ...identity } = checkInput(by, callerInput, given);
  const { account, plan, anchor, rates } = identity;
  requireLimitsKept(by, server.calls.ledger, "the caller", { rates });
  const isKnown = plan !== undefined && anchor !== undefined;
  const known = isKnown ? giving(toCaller(identity, { plan, anchor })) : undefined;
  const findCaller = async () => {
    const found = await findTerms(account, identity, services);
    return isGatewayError(found) ? refusing(found) : giving(toCaller(identity, found));
  };

  const respond = async ({ target, parts }: InProcessRequest): Promise<Response> => {
    const ownCaller = known ?? (await findCaller());
    const request = new WebRequest(parts, target);
    const response = await serve(server, request, ownCaller);
    return toWebResponse(response, request, { maxStallMs, ended: parts.signal, makeWhole: keptResponse });
  };
  const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    try {
      const request = toInProcessRequest(input, init, signal);
      const ended = request.parts.signal;
      ended?.throwIfAborted();
      return ended ? unlessAborted(respond(request), ended) : respond(request);
    } catch (error) {
      return Promise.reject(error);
    }
  };
  return {
    baseURL: inProcessURL,
    fetch,
    async usage() {
      const response = await fetch(`${inProcessURL}/usage`);
      const said = (await response.json()) as UsageReport & { error: ErrorObject };
      if (response.ok) return said;
      const { message, code, type, param } = said.error;
      const options = { status: response.status, code: code ?? "internal_error", type, param };
      throw new GatewayError(`gateway.as().usage: ${message}`, options);
    },
  };
}

/** How {@link serve} gets a caller. */
type OwnCaller = () => Caller;

function giving(caller: Caller): OwnCaller {
  return () => caller;
}

function refusing(error: GatewayError): OwnCaller {
  return () => {
    throw error;
  };
}

/** @returns the error of the response where the terms are not known, or a store fails or takes too long. */
async function findTerms(
  account: string,
  given: GivenTerms,
  { server, terms, timeLimit }: InProcessServices,
): Promise<FoundTerms | GatewayError> {
  try {
    return await timeLimit.race(terms.find(by, account, given));
  } catch (cause) {
    // An account store that fails has caused its warning already.
    if (isGatewayError(cause)) return cause;
    if (cause instanceof UnknownTermsError) return unknownTerms(cause, account, server);
    const message = "The key store failed. Calls by gateway.as() without a plan get a 503 until it is fixed.";
    server.calls.warn({ code: "key_store_failed", message, cause });
    return serviceUnavailable("The account's plan cannot be found at the moment. Try again shortly.", cause);
  }
}

/** SDKs call what their `fetch` throws a broken connection, and try again. Only the host's own code can read the message. */
function unknownTerms(cause: UnknownTermsError, account: string, { calls }: ServerServices): GatewayError {
  if (!(cause instanceof UnknownAccountError)) return invalidValue(null, cause.message);
  return refusedUnknownAccount(cause, account, calls.warnOnce);
}

function toCaller(
  { account, models, key, tags, rates }: Omit<z.output<typeof callerInput>, "signal">,
  { plan, anchor }: { plan: string; anchor: number | null },
): Caller {
  return {
    source: "in_process",
    keyId: undefined,
    filedUnder: key,
    account,
    plan,
    refusedFrom: Infinity,
    calendar: new Calendar(anchor ?? undefined),
    tags: sharedTags(tags),
    rates: RateRules.of({ owner: "caller", counters: ownCounters("caller", key) }, rates),
    models: models === undefined || models === null ? undefined : new ModelPatterns(models),
  };
}
