import { llamaCpp, ollama, vLLM } from "../../../../src/providers/local-presets.js";
import { llamaCppSample, ollamaSample, vllmSample } from "../dialects/local-servers.js";
import { type AddressSample, messagesFor, vectors } from "./address-sample.js";

const bearer = { authorization: "Bearer sk-upstream" };

export const ollamaAddress: AddressSample = {
  name: "ollama",
  make: ollama,
  key: bearer,
  serverHeaders: {},
  chat: {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    model: "qwen3:8b",
    whole: `{"model": "qwen3:8b", "messages": ${messagesFor("system")}, "max_tokens": 40, "temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"model":"qwen3:8b","stream":true,"messages":${messagesFor("system")},"max_tokens":40}`,
    recorded: ollamaSample,
    error: { what: "a model that was not pulled", status: 502, code: "bad_gateway" },
  },
  embeddings: {
    url: "http://127.0.0.1:11434/v1/embeddings",
    model: "embeddinggemma",
    body: '{"model":"embeddinggemma", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}',
    answer: `{"object":"list","data":[${vectors.first},${vectors.second}],"model":"embeddinggemma","usage":{"prompt_tokens":6,"total_tokens":6}}\n`,
  },
};

export const vllmAddress: AddressSample = {
  name: "vLLM",
  make: vLLM,
  key: bearer,
  serverHeaders: { server: "uvicorn" },
  chat: {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    model: "Qwen/Qwen3-8B",
    whole: `{"model": "Qwen/Qwen3-8B", "messages": ${messagesFor("system")}, "max_tokens": 40, "temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"model":"Qwen/Qwen3-8B","stream":true,"messages":${messagesFor("system")},"max_tokens":40}`,
    recorded: vllmSample,
    error: { what: "a template that knows no such role", status: 400, code: "upstream_rejected" },
  },
  embeddings: {
    url: "http://127.0.0.1:8000/v1/embeddings",
    model: "Qwen/Qwen3-Embedding-8B",
    body: '{"model":"Qwen/Qwen3-Embedding-8B", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}',
    answer: `{"id":"embd-5a0f3d1c","object":"list","created":1756212345,"model":"Qwen/Qwen3-Embedding-8B","data":[${vectors.first},${vectors.second}],"usage":{"prompt_tokens":6,"total_tokens":6,"completion_tokens":0,"prompt_tokens_details":null}}`,
  },
};

export const llamaCppAddress: AddressSample = {
  name: "llamaCpp",
  make: llamaCpp,
  key: bearer,
  serverHeaders: { server: "llama.cpp", "access-control-allow-origin": "" },
  chat: {
    url: "http://127.0.0.1:8080/v1/chat/completions",
    model: "qwen3-8b-q4_k_m.gguf",
    whole: `{"model": "qwen3-8b-q4_k_m.gguf", "messages": ${messagesFor("system")}, "max_tokens": 40, "temperature": 0.50}`,
    stream: `{"stream_options":{"include_usage":true},"model":"qwen3-8b-q4_k_m.gguf","stream":true,"messages":${messagesFor("system")},"max_tokens":40}`,
    recorded: llamaCppSample,
    error: { what: "a model that is still being loaded", status: 502, code: "bad_gateway" },
  },
  embeddings: {
    url: "http://127.0.0.1:8080/v1/embeddings",
    model: "nomic-embed-text.gguf",
    body: '{"model":"nomic-embed-text.gguf", "input":["one", "zwölf"], "encoding_format":"float", "dimensions":2}',
    answer: `{"model":"nomic-embed-text.gguf","object":"list","usage":{"prompt_tokens":6,"total_tokens":6},"data":[{"embedding":[-0.0069292834,2.5e-05],"index":0,"object":"embedding"},{"embedding":[0.0134578,-1.0],"index":1,"object":"embedding"}]}`,
  },
};
