import { isRecord } from "../wire/is-record.js";
import type { AISDKModel } from "./ai-sdk-model.js";

/** The headers with which a model calls its server, as far as it shows them: the models of the AI SDK's own packages do. */
export function modelHeaders(model: AISDKModel): Record<string, string> {
  const config: unknown = "config" in model ? model.config : undefined;
  if (!isRecord(config) || typeof config["headers"] !== "function") return {};
  try {
    const headers: unknown = config["headers"]();
    if (headers instanceof Promise) headers.catch(() => {});
    if (!isRecord(headers)) return {};
    return Object.fromEntries(
      Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    // A missing key, for instance: then there are no headers to hide.
    return {};
  }
}
