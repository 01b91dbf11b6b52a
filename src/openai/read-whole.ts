import { notAResponse } from "../errors/not-a-response.js";
import type { ModelAnswer } from "../metering/model-answer.js";
import { isLeftOut, ReceivedAnswer } from "../model-api/answer/received-answer.js";
import { readUsage } from "../model-api/answer/usage.js";
import { fromErrorObject, type UpstreamFailureContext } from "../model-api/failure/upstream-failure.js";
import { withoutByteOrderMark } from "../wire/byte-order-mark.js";
import { isRecord } from "../wire/is-record.js";
import { type Steps, sliceBytes, stepInTurns } from "../wire/slices.js";

/** Reads the whole responses to one request, and makes the client's of them. */
export interface WholeReader {
  /** All long texts matter to it. */
  readonly readsLongTexts?: boolean;
  /** Nothing is estimated by its texts. */
  readonly needsNoTexts?: boolean;
  /** @returns `undefined` when it is no response to the request. */
  read(received: ReceivedAnswer): ModelAnswer | undefined;
  /** @throws GatewayError for an error inside a 200, and for bytes that are no response. */
  refuse(received: ReceivedAnswer): never;
}

/**
 * Reads a whole response. Of a long one, long texts are not parsed where nothing is made of them; a very long one is read
 * in slices, between which others have their turn.
 * @throws GatewayError
 */
export function readWhole(bytes: Uint8Array, reader: WholeReader): ModelAnswer | Promise<ModelAnswer> {
  const received = new ReceivedAnswer(withoutByteOrderMark(bytes));
  if (bytes.length > sliceBytes) return stepInTurns(longSteps(received, reader));
  return readOutline(received, reader) ?? reader.read(received) ?? reader.refuse(received);
}

function* longSteps(received: ReceivedAnswer, reader: WholeReader): Steps<ModelAnswer> {
  yield* received.check();
  const found = readOutline(received, reader);
  if (found !== undefined) return found;
  yield* received.parse(true);
  return reader.read(received) ?? reader.refuse(received);
}

/** @returns `undefined` where the outline does not do: to estimate tokens by the texts, for instance. */
function readOutline(received: ReceivedAnswer, reader: WholeReader): ModelAnswer | undefined {
  const outline = reader.readsLongTexts ? undefined : received.outline();
  if (outline === undefined) return undefined;
  const answer = reader.read(outline);
  if (answer === undefined || (answer.estimated && !reader.needsNoTexts) || outline.isTooLittle) return undefined;
  return isLeftOut(answer.responseId) || isLeftOut(answer.finishReason) ? undefined : answer;
}

/** @throws GatewayError as {@link WholeReader.refuse}, for OpenAI's protocols. */
export function refuseWhole({ json }: ReceivedAnswer, context: UpstreamFailureContext): never {
  const usage = isRecord(json) ? json["usage"] : undefined;
  const error = errorIn(json);
  if (error !== undefined) throw fromErrorObject(error, context, usage);
  throw notAResponse(readUsage(usage));
}

/** The error in a body that has a status of 200. OpenRouter puts it into a choice. */
function errorIn(body: unknown): unknown {
  if (!isRecord(body)) return undefined;
  if (body["error"] !== undefined && body["error"] !== null) return body["error"];
  const choices: unknown[] = Array.isArray(body["choices"]) ? body["choices"] : [];
  return choices.map((choice) => (isRecord(choice) ? choice["error"] : undefined)).find(isRecord);
}
