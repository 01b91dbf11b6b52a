import type { Dialect, FailedRequest, UpstreamErrorResponse } from "../protocols/shared/dialect.js";
import { isRecord } from "../wire/is-record.js";
import { toProvider } from "./openai-compatible.js";
import { checkOpenAICompatibleOptions, type OpenAICompatibleOptions } from "./openai-compatible-options.js";
import type { UpstreamProvider } from "./upstream-provider.js";

/** Options of {@link azureOpenAI}. The upstream model of a model is the name of its deployment. */
export interface AzureOpenAIOptions extends OpenAICompatibleOptions {
  /** The resource's endpoint, such as `https://acme.openai.azure.com`; what comes behind it is appended. */
  baseURL: string;
  /**
   * A dated version such as `2024-10-21`: calls then go to `/openai/deployments/{deployment}` with `api-version`. Without
   * it they go to the undated API, `/openai/v1`.
   * @default undefined
   */
  apiVersion?: string | undefined;
}

/**
 * Azure OpenAI (Azure AI Foundry). `apiKey` is sent as `api-key`; for Microsoft Entra tokens pass a function and
 * `dialect: { keyHeader: "authorization" }`.
 *
 * @throws TypeError when an option is not valid.
 */
export function azureOpenAI({ apiVersion, ...options }: AzureOpenAIOptions): UpstreamProvider {
  if (apiVersion !== undefined && !/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(apiVersion)) {
    throw new TypeError(
      'azureOpenAI: the options are not valid: apiVersion: must be a date such as "2024-10-21" or "2024-12-01-preview"; leave it out for /openai/v1',
    );
  }
  const dialect: Dialect = {
    strictMembers: true,
    keyHeader: "api-key",
    // Dated versions and older deployments differ in which name they know.
    ...(apiVersion === undefined ? { capName: "max_completion_tokens" } : { deploymentPaths: true }),
    imageFormat: "b64_json",
    speechEvents: true,
    readError,
    ...options.dialect,
  };
  const {
    operations = [
      "chat/completions",
      "embeddings",
      "completions",
      "images/generations",
      "images/edits",
      "audio/speech",
      "audio/transcriptions",
      "audio/translations",
    ],
  } = options;
  const checked = checkOpenAICompatibleOptions({ ...options, operations, dialect }, "azureOpenAI");
  const root = checked.basePath.replace(/\/openai(\/v1)?$/, "");
  if (apiVersion === undefined) return toProvider({ ...checked, basePath: `${root}/openai/v1` });
  const query = new URLSearchParams(checked.query);
  query.set("api-version", apiVersion);
  return toProvider({ ...checked, basePath: `${root}/openai`, query: `?${query}` });
}

/** A deployment that does not exist, or is none for chat, is no mistake of the client's. */
const ownFaults = ["DeploymentNotFound", "OperationNotSupported", "ResourceNotFound"];

function readError({ status, body }: UpstreamErrorResponse, { promptParam }: FailedRequest): UpstreamErrorResponse {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const { code, message } = error;
  if (typeof code === "string" && ownFaults.includes(code)) {
    return { status: 404, body: { error: { message, code: "model_not_found" } } };
  }
  // The prompt is what Azure calls the messages, and the input of embeddings.
  if (code === "content_filter" && error["param"] === "prompt") {
    return { status, body: { error: { ...error, param: promptParam } } };
  }
  return { status, body };
}
