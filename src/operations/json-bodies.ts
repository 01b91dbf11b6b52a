import { requireJsonType } from "../model-api/request/json-content-type.js";
import { sliceBytes } from "../wire/slices.js";
import type { ModelRequest, OperationServices, RequestFacts, WholeBodies } from "./operation.js";

/** Reads the JSON of a body. @throws GatewayError 400; rejects with it where the body is large. */
export type JsonReader<Request> = (body: Uint8Array, maxDepth: number) => Request | Promise<Request>;

/** How an operation reads bodies that are JSON. */
export function jsonBodies<Request>(
  read: JsonReader<Request>,
  toModelRequest: (request: Request, services: OperationServices, facts: RequestFacts) => ModelRequest,
): WholeBodies {
  return {
    takesUploads: false,
    checkContentType: requireJsonType,
    parse(body, services, facts) {
      const request = read(body, services.maxBodyDepth);
      return request instanceof Promise
        ? request.then((late) => toModelRequest(late, services, facts))
        : toModelRequest(request, services, facts);
    },
  };
}

/** Reads at once, and a large body in slices, between which others have their turn. Both ways read the same. */
export function jsonReader<Request>(
  atOnce: (body: Uint8Array, maxDepth: number) => Request,
  inTurns: (body: Uint8Array, maxDepth: number) => Promise<Request>,
): JsonReader<Request> {
  return (body, maxDepth) => (body.length > sliceBytes ? inTurns(body, maxDepth) : atOnce(body, maxDepth));
}
