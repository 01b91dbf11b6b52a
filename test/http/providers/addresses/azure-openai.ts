import { azureOpenAI } from "../../../../src/providers/azure-openai.js";
import { azureDatedSample, azureSample } from "../dialects/azure-openai.js";
import { type AddressSample, messagesFor, vectors } from "./address-sample.js";

const common = {
  key: { "api-key": "sk-upstream" },
  serverHeaders: {
    "apim-request-id": "5c3d4b0e",
    "x-ms-region": "Sweden Central",
    "x-ms-deployment-name": "gpt-4o-mini",
    "azureml-model-session": "d156-20260115",
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
  },
};
const answer = `{"object":"list","data":[${vectors.first},${vectors.second}],"model":"text-embedding-3-large","usage":{"prompt_tokens":4,"total_tokens":4}}`;
const error = { what: "a rate limit", status: 429, code: "rate_limit_exceeded" };

export const azureAddress: AddressSample = {
  ...common,
  name: "azureOpenAI",
  make: (options) => azureOpenAI({ baseURL: "https://acme.openai.azure.com", ...options }),
  chat: {
    url: "https://acme.openai.azure.com/openai/v1/chat/completions",
    model: "gpt-4o-mini",
    whole: `{"max_completion_tokens":40,"model": "gpt-4o-mini", "messages": ${messagesFor("developer")},"temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"max_completion_tokens":40,"model":"gpt-4o-mini","stream":true,"messages":${messagesFor("developer")}}`,
    recorded: azureSample,
    error,
  },
  embeddings: {
    url: "https://acme.openai.azure.com/openai/v1/embeddings",
    model: "embed-large",
    body: '{"model":"embed-large", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}',
    answer,
  },
};

/** The names of its deployments are in the paths. */
export const azureDatedAddress: AddressSample = {
  ...common,
  name: "azureOpenAI with an apiVersion",
  make: (options) => azureOpenAI({ baseURL: "https://acme.openai.azure.com", apiVersion: "2024-10-21", ...options }),
  chat: {
    url: "https://acme.openai.azure.com/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21",
    model: "gpt-4o-mini",
    whole: `{"model": "gpt-4o-mini", "messages": ${messagesFor("developer")}, "max_tokens": 40, "temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"model":"gpt-4o-mini","stream":true,"messages":${messagesFor("developer")},"max_tokens":40}`,
    recorded: azureDatedSample,
    error,
  },
  embeddings: {
    url: "https://acme.openai.azure.com/openai/deployments/embed%2Flarge/embeddings?api-version=2024-10-21",
    model: "embed/large",
    body: '{"model":"embed/large", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}',
    answer,
  },
};
