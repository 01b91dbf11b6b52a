import type { ModelRequest } from "../../operations/operation.js";
import type { CallServices } from "../call-services.js";
import type { ReceivedCall } from "./check-call.js";

/** Reads a body of the call's operation. @throws GatewayError 400 */
export function parseRequest(
  { operations }: CallServices,
  { request, caller, operation }: ReceivedCall,
  body: Uint8Array,
): ModelRequest | Promise<ModelRequest> {
  const facts = { account: caller.account, header: (name: string) => request.header(name) };
  return operation.parse(body, operations, facts);
}
