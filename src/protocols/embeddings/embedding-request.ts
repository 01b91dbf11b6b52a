import { invalidType } from "../../errors/gateway-error.js";
import { type Steps, slicesOf } from "../../wire/slices.js";
import { type Input, InputReader, type InputRules, mostInputs } from "../shared/inputs.js";
import { type JsonRequest, parseJsonRequest, readCount, readMember, readModel } from "../shared/json-request.js";
import { RequestNames } from "../shared/request-names.js";

/** The members of an embeddings request that the gateway reads (OpenAI reference, "Create embeddings"). */
export interface EmbeddingRequest extends JsonRequest {
  readonly model: string;
  /** The response must have one vector for each. */
  readonly inputs: readonly Input[];
  /** `other`: an encoding that OpenAI does not have. It is passed on unchanged. */
  readonly encoding: "float" | "base64" | "other";
}

export const embeddingNames = new RequestNames({ owned: ["model", "input", "dimensions", "encoding_format"] });

/**
 * Checks the members that the gateway reads. Every other member goes to the upstream unchanged.
 * @throws GatewayError 400
 */
export function* parseEmbeddingRequest(bytes: Uint8Array, maxDepth: number): Steps<EmbeddingRequest> {
  const request = yield* parseJsonRequest(bytes, maxDepth, embeddingNames);
  const check = checkInput(request);
  yield* slicesOf(check);
  return toEmbeddingRequest(request, check.inputs);
}

const inputRules: InputRules = {
  param: "input",
  takesTokens: true,
  takesObjects: true,
  takesEmptyTexts: false,
  mostTokens: mostInputs,
};

function checkInput(request: JsonRequest): InputReader {
  readModel(request);
  return new InputReader(request, inputRules);
}

function toEmbeddingRequest(request: JsonRequest, inputs: readonly Input[]): EmbeddingRequest {
  readCount("dimensions", readMember(request, "dimensions"));
  const encoding = readMember(request, "encoding_format") ?? "float";
  if (typeof encoding !== "string") throw invalidType("encoding_format", "'float' or 'base64'");
  return {
    ...request,
    model: readModel(request),
    inputs,
    encoding: encoding === "float" || encoding === "base64" ? encoding : "other",
  };
}
