import type { Model } from "../../../../src/gateway/models/model.js";
import { type OperationName, operationNames } from "../../../../src/prices/operation-name.js";
import type { Price } from "../../../../src/prices/price.js";
import { operations } from "../../../../src/protocols/operations.js";
import type { Operation } from "../../../../src/protocols/shared/operation.js";
import { type MediaOptions, type MediaServer, startMedia } from "../../../support/media-server.js";
import { smallestRequests } from "../fixtures/smallest-requests.js";

/** Operations that answer a request for a stream. */
export const streamedOperations: ReadonlySet<OperationName> = new Set<OperationName>([
  ...(["chat/completions", "responses", "messages", "completions", "images/generations", "images/edits"] as const),
  ...(["audio/speech", "audio/transcriptions"] as const),
]);

function operationOf(name: OperationName): Operation {
  const found = operations.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}.`);
  return found;
}

/** One credit for each of whatever one of the lists of an operation's terms names. */
export function pricesOf(name: OperationName): readonly Price[] {
  return operationOf(name).priced.required.map((terms) =>
    Object.fromEntries(terms.map((term) => [term, term === "images" ? [{ credits: 1 }] : 1])),
  );
}

/** A model for the operation, with two targets. */
export function modelFor(name: OperationName, price: Price): Model {
  const type = operationOf(name).modelTypes[0] ?? "chat";
  return {
    id: "acme/model",
    type,
    ...(type === "transcription" && { maxAudioSeconds: 60 }),
    contextLength: 1000,
    maxOutputTokens: 50,
    price,
    upstream: ["fake", "other"].map((provider) => ({ provider, model: "gpt-image-1" })),
  };
}

export interface AnyOperation extends MediaServer {
  /** Sends the smallest request of the operation, with these members, too. */
  send(stream: boolean, members?: object, signal?: AbortSignal): Promise<Response>;
}

/** A gateway on loopback with one model, for one operation at two servers that speak it. */
export async function startOperation(
  name: OperationName,
  price: Price,
  options: Partial<MediaOptions> = {},
): Promise<AnyOperation> {
  const started = await startMedia({ models: [modelFor(name, price)], operations: [name], ...options });
  const [path = ""] = operationOf(name).paths;
  const url = `${started.baseURL}${path.slice("/v1".length)}`;
  const send = (stream: boolean, members: object = {}, signal: AbortSignal | null = null): Promise<Response> => {
    const own = { model: "acme/model", ...smallestRequests[name], ...(stream && streamMember(name)), ...members };
    const isForm = name.startsWith("audio/tr");
    const headers = { authorization: "Bearer sk-pro", ...(!isForm && { "content-type": "application/json" }) };
    const body = isForm ? formOf(own) : JSON.stringify(own);
    return fetch(url, { method: "POST", headers, body, signal });
  };
  return { ...started, send };
}

function formOf(members: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(members)) form.set(name, String(value));
  form.set("file", new Blob(["sound"]), "sound.flac");
  return form;
}

function streamMember(name: OperationName): object {
  return name === "audio/speech" ? { stream_format: "sse" } : { stream: true };
}

/** Every operation with every kind of price, whole and streamed. */
export const everyCall: readonly [name: OperationName, price: Price, stream: boolean][] = operationNames.flatMap(
  (name) =>
    pricesOf(name).flatMap((price) =>
      [false, true]
        .filter((stream) => (stream ? streamedOperations.has(name) : name !== "audio/speech"))
        .map((stream): [OperationName, Price, boolean] => [name, price, stream]),
    ),
);
