import { deepSeek, groq, mistral, openAI, openRouter } from "../../../../src/providers/presets.js";
import { deepSeekSample } from "../dialects/deepseek.js";
import { groqSample } from "../dialects/groq.js";
import { mistralSample } from "../dialects/mistral.js";
import { openAISample } from "../dialects/openai.js";
import { openRouterSample } from "../dialects/openrouter.js";
import { type AddressSample, messagesFor, vectors } from "./address-sample.js";

const bearer = { authorization: "Bearer sk-upstream" };

export const openAIAddress: AddressSample = {
  name: "openAI",
  make: openAI,
  key: bearer,
  serverHeaders: {
    "openai-organization": "org-zx81",
    "openai-processing-ms": "412",
    "openai-version": "2020-10-01",
    "x-ratelimit-remaining-requests": "4999",
    "x-request-id": "req_upstream",
    "cf-ray": "8a1b2c3d4e5f6a7b-FRA",
  },
  chat: {
    url: "https://api.openai.com/v1/chat/completions",
    model: "gpt-5",
    whole: `{"max_completion_tokens":40,"model": "gpt-5", "messages": ${messagesFor("developer")},"temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"max_completion_tokens":40,"model":"gpt-5","stream":true,"messages":${messagesFor("developer")}}`,
    recorded: openAISample,
    error: { what: "a parameter that the model does not support", status: 400, code: "unsupported_value" },
  },
  embeddings: {
    url: "https://api.openai.com/v1/embeddings",
    model: "text-embedding-3-small",
    body: '{"model":"text-embedding-3-small", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}',
    answer: `{"object":"list","data":[${vectors.first},${vectors.second}],"model":"text-embedding-3-small","usage":{"prompt_tokens":4,"total_tokens":4}}`,
  },
};

export const openRouterAddress: AddressSample = {
  name: "openRouter",
  make: openRouter,
  key: bearer,
  serverHeaders: { "x-clerk-auth-status": "signed-out", "cf-ray": "8a1b2c3d4e5f6a7b-FRA", server: "cloudflare" },
  chat: {
    url: "https://openrouter.ai/api/v1/chat/completions",
    model: "qwen/qwen3-32b",
    whole: `{"model": "qwen/qwen3-32b", "messages": ${messagesFor("system")}, "max_tokens": 40, "temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"model":"qwen/qwen3-32b","stream":true,"messages":${messagesFor("system")},"max_tokens":40}`,
    recorded: openRouterSample,
    error: { what: "an empty balance", status: 502, code: "bad_gateway" },
  },
  embeddings: {
    url: "https://openrouter.ai/api/v1/embeddings",
    model: "openai/text-embedding-3-small",
    body: '{"model":"openai/text-embedding-3-small", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}',
    answer: `{"object":"list","data":[${vectors.first},${vectors.second}],"model":"text-embedding-3-small","usage":{"prompt_tokens":4,"total_tokens":4,"cost":8e-8},"provider":"OpenAI","id":"gen-emb-1763718500-RqKt"}`,
  },
};

export const groqAddress: AddressSample = {
  name: "groq",
  make: groq,
  key: bearer,
  serverHeaders: { "x-groq-region": "fra", "x-ratelimit-remaining-tokens": "7960", "x-request-id": "req_01jbd6g2" },
  chat: {
    url: "https://api.groq.com/openai/v1/chat/completions",
    model: "openai/gpt-oss-20b",
    whole: `{"max_completion_tokens":40,"model": "openai/gpt-oss-20b", "messages": ${messagesFor("system")},"temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"max_completion_tokens":40,"model":"openai/gpt-oss-20b","stream":true,"messages":${messagesFor("system")}}`,
    recorded: groqSample,
    error: { what: "a full flex tier", status: 429, code: "rate_limit_exceeded" },
  },
};

export const mistralAddress: AddressSample = {
  name: "mistral",
  make: mistral,
  key: bearer,
  serverHeaders: {
    "x-kong-upstream-latency": "310",
    "x-ratelimit-limit-tokens-minute": "500000",
    server: "cloudflare",
  },
  chat: {
    url: "https://api.mistral.ai/v1/chat/completions",
    model: "magistral-medium-2509",
    whole: `{"model": "magistral-medium-2509", "messages": ${messagesFor("system")}, "max_tokens": 40, "temperature": 0.50}`,
    stream: `{"model":"magistral-medium-2509","stream":true,"messages":${messagesFor("system")},"max_tokens":40}`,
    recorded: mistralSample,
    error: { what: "a rate limit", status: 429, code: "rate_limit_exceeded" },
  },
  embeddings: {
    url: "https://api.mistral.ai/v1/embeddings",
    model: "codestral-embed",
    body: '{"output_dimension":2,"model":"codestral-embed", "input":["one", "zwölf"], "encoding_format":"float"}',
    answer: `{"id":"b1ac2e6d3ac04b0e","object":"list","data":[${vectors.first},${vectors.second}],"model":"codestral-embed","usage":{"prompt_audio_seconds":null,"prompt_tokens":6,"total_tokens":6,"completion_tokens":0}}`,
  },
};

export const deepSeekAddress: AddressSample = {
  name: "deepSeek",
  make: deepSeek,
  key: bearer,
  serverHeaders: { "x-ds-trace-id": "9d2f1c", "access-control-allow-credentials": "true", server: "CloudFront" },
  chat: {
    url: "https://api.deepseek.com/v1/chat/completions",
    model: "deepseek-reasoner",
    whole: `{"model": "deepseek-reasoner", "messages": ${messagesFor("system")}, "max_tokens": 40, "temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"model":"deepseek-reasoner","stream":true,"messages":${messagesFor("system")},"max_tokens":40}`,
    recorded: deepSeekSample,
    error: { what: "an empty balance", status: 502, code: "bad_gateway" },
  },
};
