import { z } from "zod";
import type { Caller } from "../../access/caller.js";
import { ModelPatterns } from "../../access/model-patterns.js";
import { checkInput } from "../../check/check-input.js";
import { idText } from "../../check/id-text.js";
import { tagsInput } from "../../check/tags-input.js";
import { keyAccount, keyModels, wholeInstant } from "../../keys/check-key.js";
import { Calendar } from "../../ledger/windows.js";
import { usageDimensions } from "../../metering/tags.js";
import { type ServerServices, serve } from "../../server/serve.js";
import type { UsageReport } from "../../server/usage-report.js";
import type { AccountTermsLookup } from "../admin/account-terms.js";
import { toWebResponse } from "../web-bridge.js";
import { WebRequest } from "../web-request.js";
import type { InProcess, InProcessCaller } from "./in-process.js";
import { inProcessURL, toRequestParts } from "./request-parts.js";

const callerInput = z.strictObject({
  account: keyAccount,
  plan: idText().optional(),
  anchor: wholeInstant,
  models: keyModels,
  key: idText().default("server"),
  tags: tagsInput(usageDimensions).optional(),
  signal: z.instanceof(AbortSignal, { error: "must be an AbortSignal" }).optional(),
});

/** What calls in process work with. */
export interface InProcessServices {
  readonly server: ServerServices;
  readonly terms: AccountTermsLookup;
  readonly maxStallMs: number;
}

/** @throws TypeError when what is given is not valid. */
export function callInProcess({ server, terms, maxStallMs }: InProcessServices, given: InProcessCaller): InProcess {
  const by = "gateway.as";
  const { signal, ...identity } = checkInput(by, callerInput, given);
  const { account, plan, anchor } = identity;
  const isKnown = plan !== undefined && anchor !== undefined;
  const known = isKnown ? toCaller(identity, { plan, anchor }) : undefined;
  const findCaller = async () => toCaller(identity, await terms.find(by, account, identity));

  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { path, parts } = toRequestParts(input, init, signal);
    const caller = known ?? (await findCaller());
    const request = new WebRequest(parts, path);
    return toWebResponse(await serve(server, request, caller), request, maxStallMs);
  };
  return {
    baseURL: inProcessURL,
    fetch,
    async usage() {
      const response = await fetch(`${inProcessURL}/usage`);
      const said = (await response.json()) as UsageReport & { error?: { message: string } };
      if (response.ok) return said;
      throw new Error(`gateway.as().usage: ${said.error?.message ?? response.status}`);
    },
  };
}

function toCaller(
  { account, models, key, tags }: Omit<z.output<typeof callerInput>, "signal">,
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
    tags,
    models: models === undefined || models === null ? undefined : new ModelPatterns(models),
  };
}
