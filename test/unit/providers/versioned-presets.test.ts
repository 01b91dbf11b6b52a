import { describe, expect, it } from "vitest";
import { ollama, vLLM } from "../../../src/providers/local-presets.js";

const always = ["chat/completions", "embeddings"];
const ofVllm = [...always, "completions", "rerank", "audio/transcriptions", "audio/translations"];

describe("what a server speaks by its version", () => {
  it.each([
    [vLLM, "0.9.2", ofVllm],
    [vLLM, "0.10.0", [...ofVllm, "responses"]],
    [vLLM, "v0.11.0", [...ofVllm, "responses"]],
    [vLLM, "0.11.1rc2", [...ofVllm, "responses", "messages"]],
    [vLLM, "0.32", [...ofVllm, "responses", "messages"]],
    [vLLM, "1", [...ofVllm, "responses", "messages"]],
    [ollama, "0.13.2", always],
    [ollama, "0.13.3", [...always, "responses"]],
    [ollama, "0.13.12", [...always, "responses"]],
    [ollama, "0.14.0-rc1", [...always, "responses", "messages"]],
    [ollama, "0.40.12", [...always, "responses", "messages"]],
  ])("%o %s", (preset, version, operations) => {
    expect(preset({ version }).operations).toEqual(operations);
  });

  it.each([
    [vLLM, ofVllm],
    [ollama, always],
  ])("is what every version speaks where none is said: %o", (preset, operations) => {
    expect(preset().operations ?? always).toEqual(operations);
    expect(preset({ version: "0.40.0", operations: ["messages"] }).operations).toEqual(["messages"]);
  });

  it.each(["", "latest", "0.", "1.2.3.4.5", "0..1", 5])("cannot be told of %j", (version) => {
    expect(() => ollama({ version: version as string })).toThrow(/^ollama: version must be a version such as "0.14.0"/);
  });
});
