import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/target-limit.js";
import { isRecord } from "../../wire/is-record.js";
import { mostTextDepth, textFaultSteps } from "../../wire/sliced/text-fault-steps.js";
import { atOnce } from "../../wire/slices.js";
import { type AISDKLanguageModel, providerName } from "../ai-sdk-model.js";
import { toFilePart } from "./file-part.js";
import { cacheOptions, type Part, textOf, textPart } from "./prompt-parts.js";
import { historyReasoning, historySignature } from "./signatures.js";

interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | Part[];
  providerOptions?: Record<string, unknown>;
}

/**
 * The conversation as the AI SDK has it. Instructions go to its beginning, wherever they stand: most models accept them
 * nowhere else.
 *
 * @param instructions - further ones, behind the client's own.
 * @throws GatewayError 400, with the path of what such a model cannot take.
 */
export async function toPrompt(
  messages: unknown,
  model: AISDKLanguageModel,
  instructions: readonly string[] = [],
): Promise<Message[]> {
  if (!Array.isArray(messages)) throw invalidType("messages", "an array of objects");
  const system: Message[] = [];
  const prompt: Message[] = [];
  const toolNames = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    if (!isRecord(message)) throw invalidType(param, "an object");
    switch (message["role"]) {
      case "system":
      case "developer":
        system.push(systemMessage(message, param));
        break;
      case "user":
        prompt.push({ role: "user", content: await userParts(message["content"], `${param}.content`, model) });
        break;
      case "assistant": {
        const content = assistantParts(message, param, providerName(model), toolNames);
        if (content.length > 0) prompt.push({ role: "assistant", content });
        break;
      }
      case "tool":
        addToolResult(prompt, toolResult(message, param, toolNames));
        break;
      default:
        throw beyondTarget(
          `${param}.role`,
          "A role must be 'developer', 'system', 'user', 'assistant' or 'tool' here.",
        );
    }
  }
  const added = instructions.map((content): Message => ({ role: "system", content }));
  return [...system, ...added, ...prompt];
}

function systemMessage(message: Record<string, unknown>, param: string): Message {
  const { content } = message;
  const last = Array.isArray(content) ? content.at(-1) : undefined;
  return { role: "system", content: textOf(content, `${param}.content`), ...cacheOptions(last) };
}

async function userParts(content: unknown, param: string, model: AISDKLanguageModel): Promise<Part[]> {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw invalidType(param, "a string or an array of parts");
  return Promise.all(
    content.map((part, index) => {
      const path = `${param}[${index}]`;
      if (!isRecord(part)) throw invalidType(path, "an object");
      return part["type"] === "text" ? textPart(part, path) : toFilePart(part, path, model);
    }),
  );
}

function assistantParts(
  message: Record<string, unknown>,
  param: string,
  provider: string,
  toolNames: Map<string, string>,
): Part[] {
  const { content, tool_calls: calls, refusal } = message;
  const parts = historyReasoning(message, provider);
  const text = content === undefined || content === null ? "" : textOf(content, `${param}.content`);
  if (text !== "") parts.push({ type: "text", text });
  if (text === "" && typeof refusal === "string" && refusal !== "") parts.push({ type: "text", text: refusal });
  if (calls === undefined || calls === null) return parts;
  if (!Array.isArray(calls)) throw invalidType(`${param}.tool_calls`, "an array of objects");
  return [
    ...parts,
    ...calls.map((call, index) => toolCall(call, `${param}.tool_calls[${index}]`, provider, toolNames)),
  ];
}

function toolCall(call: unknown, param: string, provider: string, toolNames: Map<string, string>): Part {
  const called = isRecord(call) ? call["function"] : undefined;
  if (!isRecord(call) || !isRecord(called)) throw invalidType(`${param}.function`, "an object");
  const { id } = call;
  const { name, arguments: text } = called;
  if (typeof id !== "string") throw invalidType(`${param}.id`, "a string");
  if (typeof name !== "string") throw invalidType(`${param}.function.name`, "a string");
  toolNames.set(id, name);
  const input = parseArguments(text, `${param}.function.arguments`);
  return { type: "tool-call", toolCallId: id, toolName: name, input, ...historySignature(call, provider) };
}

function parseArguments(text: unknown, param: string): unknown {
  if (text === undefined || text === null || text === "") return {};
  if (typeof text !== "string") throw invalidType(param, "a string of JSON");
  const fault = atOnce(textFaultSteps(text));
  if (fault?.reason === "too_deep") {
    throw invalidValue(param, `'${param}' is nested more than ${mostTextDepth} levels deep.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalidValue(param, `'${param}' is not valid JSON.`);
  }
}

function toolResult(message: Record<string, unknown>, param: string, toolNames: ReadonlyMap<string, string>): Part {
  const { tool_call_id: id } = message;
  if (typeof id !== "string") throw invalidType(`${param}.tool_call_id`, "a string");
  const toolName = toolNames.get(id);
  if (toolName === undefined) {
    throw invalidValue(`${param}.tool_call_id`, "A tool's message must follow the assistant's message that called it.");
  }
  const value = textOf(message["content"] ?? "", `${param}.content`);
  return { type: "tool-result", toolCallId: id, toolName, output: { type: "text", value } };
}

/** The results of one turn belong together. */
function addToolResult(prompt: Message[], result: Part): void {
  const last = prompt.at(-1);
  if (last?.role === "tool" && Array.isArray(last.content)) last.content.push(result);
  else prompt.push({ role: "tool", content: [result] });
}
