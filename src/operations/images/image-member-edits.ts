import { beyondTarget } from "../../errors/target-limit.js";
import type { ProtocolTable } from "../../model-api/tables/protocol-table.js";
import { addNameEdits } from "../upstream-body.js";
import { imageFormatOf } from "../../openai/images/image-format.js";
import type { ImageRequest } from "../../openai/images/image-request.js";
import type { MemberEdits } from "../../wire/json-members.js";
import { calledName } from "../called-name.js";
import type { ModelTraits, TargetTraits } from "../operation.js";

/**
 * What a target gets of a request for images beside what its client sent.
 * @throws GatewayError 400 when it cannot give images in the form that the client asks for.
 */
export function imageMemberEdits(
  request: ImageRequest,
  { target, model, table }: { target: TargetTraits; model: ModelTraits; table: ProtocolTable },
): MemberEdits {
  const { upstreamModel } = target;
  const dialect = target.rules.dialectFor(request, target.dialect, table);
  const { sent, given } = imageFormatOf(dialect, upstreamModel);
  if (request.format !== undefined && given !== undefined && request.format !== given) {
    throw beyondTarget(
      "response_format",
      `'${calledName(model)}' gives images as '${given}' alone. Leave 'response_format' out, or send '${given}'.`,
    );
  }
  const edits: MemberEdits = new Map([["model", JSON.stringify(upstreamModel)]]);
  if (dialect !== undefined) addNameEdits(request, dialect, edits);
  if (sent !== undefined) edits.set("response_format", sent === null ? null : JSON.stringify(sent));
  return edits;
}
