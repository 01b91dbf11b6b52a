import { sliceBytes } from "../wire/slices.js";
import type { ModelRequest, Operation } from "./operation.js";

/**
 * How an operation whose bodies are JSON reads them: at once, and a large one in slices, between which others have their turn.
 * Both ways read the same.
 */
export function parseJsonBody<Request>(
  atOnce: (body: Uint8Array, maxDepth: number) => Request,
  inTurns: (body: Uint8Array, maxDepth: number) => Promise<Request>,
  toModelRequest: (request: Request) => ModelRequest,
): Operation["parse"] {
  return (body, { maxBodyDepth }) =>
    body.length > sliceBytes
      ? inTurns(body, maxBodyDepth).then(toModelRequest)
      : toModelRequest(atOnce(body, maxBodyDepth));
}
