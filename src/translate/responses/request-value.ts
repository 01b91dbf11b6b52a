import type { ResponsesRequest } from "../../openai/responses/responses-request.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { type JsonMember, memberOf } from "../../wire/json-members.js";

/** The value of a request's member; `undefined` where it is absent. */
export function memberValue(request: ResponsesRequest, name: string): unknown {
  const member = memberOf(request.members, name);
  return member === undefined ? undefined : parseSpan(request, member);
}

/** A value within a request. */
function parseSpan({ body }: ResponsesRequest, { start, end }: Pick<JsonMember, "start" | "end">): unknown {
  return JSON.parse(asBuffer(body).toString("utf8", start, end));
}
