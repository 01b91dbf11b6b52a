import { absent, memberOf } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { Skips } from "../../wire/skip-table.js";
import { type Steps, slicesOf } from "../../wire/slices.js";
import { type Input, InputReader } from "../shared/inputs.js";
import { type JsonRequest, parseJsonRequest, readModel } from "../shared/json-request.js";
import { ProtocolTable, typeAt, UnknownPlaces } from "../shared/protocol-table.js";
import { faultyObject, RequestNames } from "../shared/request-names.js";

/** What a request for a moderation may hold. */
export const moderationsTable = new ProtocolTable(
  {
    protocol: "moderations",
    reference: 'OpenAI, "Create moderation" (openai 7.59.0)',
    date: "2026-11-29",
    own: [],
  },
  [
    { place: "member", treatment: "passes", names: ["model", "input", "user", "metadata", "safety_identifier"] },
    { place: "block", treatment: "passes", names: ["text", "image_url"] },
    { place: "open member", treatment: "passes", names: ["metadata"] },
    { place: "inner member", treatment: "passes", names: ["image_url"] },
    {
      place: "source",
      treatment: "refused",
      names: ["file_id"],
      why: "names a file in the operator's account, which all clients share",
      advice: "Send the image itself as a data URL.",
    },
  ],
);

/** The members of a moderation request that the gateway reads (OpenAI reference, "Create moderation"). */
export interface ModerationRequest extends JsonRequest {
  readonly model: string;
  readonly namesNoModel: boolean;
  readonly inputs: readonly Input[];
  /** The least results of a response: one for each text, or one for all parts together. */
  readonly results: number;
}

export const moderationNames = new RequestNames({ owned: ["model", "input"] });

/** What OpenAI takes where no model is named. Its SDKs name none. */
const usualModel = "omni-moderation-latest";

/** @throws GatewayError 400 */
export function* parseModerationRequest(bytes: Uint8Array, maxDepth: number): Steps<ModerationRequest> {
  const request = yield* parseJsonRequest(bytes, maxDepth, moderationNames);
  const [reader, unknown] = readerOf(request);
  yield* slicesOf(reader);
  return toModerationRequest(request, reader.inputs, unknown);
}

function readerOf(request: JsonRequest): [InputReader, UnknownPlaces] {
  const unknown = new UnknownPlaces(moderationsTable);
  const reader = new InputReader(request, {
    param: "input",
    takesTokens: false,
    takesObjects: true,
    takesEmptyTexts: true,
    mostTokens: 0,
    watch: (body, start, skips, path) => watchPart(unknown, { body, skips }, start, path),
  });
  return [reader, unknown];
}

/** Of one part: far more than any has. */
const mostMembers = 1000;

const inPart = new MemberSearch(["type", "image_url"], mostMembers);

function watchPart(
  unknown: UnknownPlaces,
  { body, skips }: { readonly body: Uint8Array; readonly skips: Skips },
  start: number,
  path: string,
): void {
  const fault = inPart.run(body, start, skips);
  if (fault !== undefined) throw faultyObject(fault, path, "A part");
  const [type = absent, image = absent] = inPart.starts;
  const name = typeAt(body, type, inPart.ends[0] ?? type);
  if (name !== undefined) unknown.note("block", name, () => path);
  if (image !== absent) unknown.noteFile(body, image, skips, () => `${path}.image_url`);
}

function toModerationRequest(
  request: JsonRequest,
  inputs: readonly Input[],
  unknown: UnknownPlaces,
): ModerationRequest {
  const model = memberOf(request.members, "model");
  const namesNoModel = model === undefined || request.body[model.start] === 0x6e;
  const isParts = request.body[inputs[0]?.start ?? 0] === 0x7b;
  return {
    ...request,
    unknown: unknown.found,
    model: namesNoModel ? usualModel : readModel(request),
    namesNoModel,
    inputs,
    results: isParts ? 1 : inputs.length,
  };
}
