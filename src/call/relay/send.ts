import { Buffer } from "node:buffer";
import { badGateway, type GatewayError, isGatewayError, upstreamTimeout } from "../../errors/gateway-error.js";
import { noteRefusal } from "../../errors/refusal.js";
import type { RequestObserver } from "../../events/request-observer.js";
import type { OperationName } from "../../prices/operation-name.js";
import type { Dialect } from "../../protocols/shared/dialect.js";
import type { Exchange } from "../../protocols/shared/operation.js";
import {
  type ClientCall,
  callProvider,
  type DirectCall,
  type DirectResponse,
  type RequestBytes,
} from "../../providers/direct-call.js";
import { isUpstreamError, type UpstreamError, type UpstreamProvider } from "../../providers/upstream-provider.js";
import { editMembers, type MemberEdits, membersOf } from "../../wire/json-members.js";
import { iteratorOf, leaveBody, leaveUnread } from "../../wire/piece-source.js";
import type { AbortNotifier } from "../abort-notifier.js";
import type { CheckedCall } from "../checked-call.js";
import type { EndUserIds } from "../end-user-ids.js";
import type { Meter } from "../meter.js";
import { RestartableTimer } from "./restartable-timer.js";
import { untilAborted } from "./until-aborted.js";

/** At most this much of an error response is read, in bytes. A longer one is no message for people. */
const longestErrorBody = 65_536;

/** After this time, in milliseconds, the gateway uses the part of an error response that it has. */
const errorBodyMs = 5_000;

/** The part of an attempt that sending needs. */
export interface SendingAttempt {
  readonly target: {
    readonly provider: UpstreamProvider;
    readonly upstreamModel: string;
    readonly dialect?: Dialect | undefined;
  };
  readonly notice: AbortNotifier;
  readonly meter: Pick<Meter, "handedOver" | "notHandedOver" | "respondsOn">;
  /** See `UpstreamCall.outputCap`. */
  readonly requiredCap?: number | undefined;
  /** The account's own key with the target's server; absent: the operator's is used. */
  readonly ownKey?: string | undefined;
  readonly call: ClientCall & {
    readonly services: { readonly endUserIds?: EndUserIds | undefined };
    readonly observer: Pick<RequestObserver, "attemptResponded" | "runAttempt" | "traceHeaders">;
    readonly admission: Pick<CheckedCall, "requestId" | "tags" | "additions"> & {
      readonly caller: Pick<CheckedCall["caller"], "account" | "keyId">;
      readonly request: { readonly stream: boolean };
    };
    /** Further headers for the upstream. */
    readonly trace: Readonly<Record<string, string>> | undefined;
  };
}

/**
 * Sends a request to the model server, and waits for the response until the call ends at most. A provider may ignore its
 * signal.
 * @returns the response, with status 200. Its body is not read yet.
 * @throws GatewayError for the client, or {@link UpstreamError} `aborted`.
 */
export async function send(attempt: SendingAttempt, exchange: Exchange): Promise<DirectResponse> {
  const { notice, meter, call } = attempt;
  let failure: Error;
  try {
    const answer = await untilAborted(notice, Promise.resolve(sendOut(attempt, exchange)), leaveAnswer);
    call.observer.attemptResponded(answer);
    if (answer.status === 200) return answer;
    failure = await untilAborted(notice, readError(answer, exchange));
  } catch (error) {
    noteRefusal(error);
    if (isUpstreamError(error) && error.failure === "unreachable") meter.notHandedOver();
    throw toUpstreamFailure(error);
  }
  throw failure;
}

/** A host's own provider may return anything. */
function leaveAnswer(answer: DirectResponse): void {
  try {
    leaveUnread(answer.body);
  } catch {}
}

function sendOut(attempt: SendingAttempt, exchange: Exchange): Promise<DirectResponse> {
  const { target, notice, meter, call } = attempt;
  const { operation, headers, pieces } = exchange;
  const { upstreamModel } = target;
  const { requestId, caller, request, tags, additions } = call.admission;
  const { account, keyId } = caller;
  const { stream } = request;
  const { observer } = call;
  const trace = observer.traceHeaders?.() ?? call.trace;
  const members = membersFor(attempt, operation);
  const parts: DirectCall = {
    endpoint: operation,
    model: upstreamModel,
    body: members === undefined ? (pieces ?? exchange.body) : withMembers(exchange, members),
    stream,
    expects: stream ? "events" : exchange.readBytes === undefined ? "document" : "bytes",
    outputCap: attempt.requiredCap,
    notice,
    requestId,
    account,
    keyId,
    tags,
    headers:
      trace === undefined && additions?.headers === undefined
        ? headers
        : { ...headers, ...trace, ...additions?.headers },
  };
  if (attempt.ownKey !== undefined) parts.ownKey = attempt.ownKey;
  const handOver = (): Promise<DirectResponse> => callProvider(target.provider, parts, meter, call);
  return observer.runAttempt === undefined ? handOver() : observer.runAttempt(handOver);
}

/** What the host sets of the upstream's request, and whose call it is. What the host sets by itself counts more. */
function membersFor({ call, target }: SendingAttempt, operation: OperationName): MemberEdits | undefined {
  const { endUserIds } = call.services;
  const { caller, additions } = call.admission;
  const set = additions?.members;
  if (endUserIds === undefined) return set;
  const own = endUserIds.membersFor(caller.account, operation, target.dialect);
  return own === undefined || set === undefined ? (own ?? set) : new Map([...own, ...set]);
}

function withMembers(exchange: Exchange, members: MemberEdits): RequestBytes {
  if (exchange.bodyWith !== undefined) return exchange.bodyWith(members);
  const { body } = exchange;
  return editMembers(body, membersOf(body), members);
}

/** The client's error for a response whose status is not 200. */
async function readError({ status, headers, body: pieces }: DirectResponse, exchange: Exchange): Promise<Error> {
  const body = await readAtMost(pieces, longestErrorBody).catch(ignoreUnlessFinal);
  try {
    return exchange.readError(status, headers, body);
  } catch (error) {
    // A host's own provider may return anything.
    return toUpstreamFailure(error);
  }
}

/**
 * The client's error for a failed call or a broken body. Returns a {@link GatewayError} and an {@link UpstreamError}
 * `aborted` unchanged.
 */
export function toUpstreamFailure(error: unknown): GatewayError | UpstreamError {
  if (isGatewayError(error)) return error;
  if (isUpstreamError(error) && error.failure === "aborted") return error;
  if (isUpstreamError(error) && error.failure === "timeout") return upstreamTimeout(error);
  return badGateway("The model did not answer. Try again.", { cause: error });
}

/** The first `most` bytes of the body, or those that arrive in time. The rest is not read. */
async function readAtMost(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const iterator = iteratorOf(body);
  let giveUp = (): void => {};
  const timeUp = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const timer = new RestartableTimer(errorBodyMs, giveUp);
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    timer.start();
    while (length < most) {
      const next = await Promise.race([iterator.next(), timeUp]);
      if (next === undefined || next.done) break;
      pieces.push(next.value);
      length += next.value.length;
    }
  } finally {
    timer.stop();
    leaveBody(iterator);
  }
  return Buffer.concat(pieces).subarray(0, most);
}

/** An error response whose body breaks off is still an error response. */
function ignoreUnlessFinal(error: unknown): Buffer {
  if (isGatewayError(error) || (isUpstreamError(error) && error.failure === "aborted")) throw error;
  return Buffer.alloc(0);
}
