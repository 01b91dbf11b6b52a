import { invalidType, invalidValue } from "../../errors/gateway-error.js";
import { beyondTarget } from "../../errors/refusal.js";
import { imageMedia, isFileStore, kindOfAddress, noMedia, unknownMedia } from "../../protocols/shared/media-kind.js";
import { isRecord } from "../../wire/is-record.js";
import { atOnce } from "../../wire/slices.js";
import { mostTextDepth, textFaultSteps } from "../../wire/value-steps.js";
import { type AISDKLanguageModel, providerName, type SupportedUrls } from "../ai-sdk-model.js";
import { readBase64, readDataURL } from "../data-url.js";
import { cacheOptions, historyReasoning, historySignature, type Part, textOf, textPart } from "./prompt-parts.js";

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

interface Media {
  mediaType: string;
  /** The file, or its URL. Never a text: packages take some for addresses or ids. */
  data: Uint8Array | URL;
  filename?: string;
}

/** An image, audio or file. Nothing is ever downloaded: a URL goes to models that read it themselves, or is refused. */
async function toFilePart(part: Record<string, unknown>, param: string, model: AISDKLanguageModel): Promise<Part> {
  const { mediaType, data, filename } = await readMedia(part, param, model);
  return {
    type: "file",
    mediaType,
    data: model.specificationVersion === "v2" || model.specificationVersion === "v3" ? data : tagged(data),
    ...(filename === undefined ? undefined : { filename }),
    ...cacheOptions(part),
  };
}

function tagged(data: Uint8Array | URL): Record<string, unknown> {
  return data instanceof URL ? { type: "url", url: data } : { type: "data", data };
}

async function readMedia(part: Record<string, unknown>, param: string, model: AISDKLanguageModel): Promise<Media> {
  switch (part["type"]) {
    case "image_url": {
      const image = part["image_url"];
      const url = isRecord(image) ? image["url"] : image;
      if (typeof url !== "string") throw invalidType(`${param}.image_url.url`, "a string");
      return readImage(url, `${param}.image_url.url`, model);
    }
    case "input_audio": {
      const audio = part["input_audio"];
      if (!isRecord(audio) || typeof audio["data"] !== "string") {
        throw invalidType(`${param}.input_audio.data`, "a string of base64");
      }
      const format = String(audio["format"] ?? "wav");
      if (!/^[\w.+-]{1,32}$/.test(format)) throw invalidValue(`${param}.input_audio.format`, "This is no format.");
      const data = readBase64(audio["data"], `${param}.input_audio.data`);
      return { mediaType: format === "mp3" ? "audio/mpeg" : `audio/${format}`, data };
    }
    case "file":
      return readFile(part["file"], `${param}.file`, model);
    default:
      throw beyondTarget(
        `${param}.type`,
        "This model takes parts of type 'text', 'image_url', 'input_audio' and 'file'.",
      );
  }
}

async function readFile(file: unknown, param: string, model: AISDKLanguageModel): Promise<Media> {
  if (!isRecord(file)) throw invalidType(param, "an object");
  const { file_data: data, filename } = file;
  if (typeof data !== "string") {
    throw beyondTarget(`${param}.file_data`, "A file must come with its data: this model knows no 'file_id'.");
  }
  const named = typeof filename === "string" ? { filename } : {};
  const path = `${param}.file_data`;
  if (!/^(data|https?):/i.test(data)) return { mediaType: "application/pdf", data: readBase64(data, path), ...named };
  return { ...(await readURL(data, "application/pdf", path, model)), ...named };
}

/** It is held as an image. @throws GatewayError 400 for what says that it is something else. */
async function readImage(url: string, param: string, model: AISDKLanguageModel): Promise<Media> {
  const image = await readURL(url, "image/*", param, model);
  const isImage = image.mediaType.startsWith("image/") && [noMedia, imageMedia].includes(kindOfAddress(url));
  if (!isImage)
    throw invalidValue(param, "This is no image. Send other files in parts of type 'file' or 'input_audio'.");
  return image;
}

async function readURL(url: string, mediaType: string, param: string, model: AISDKLanguageModel): Promise<Media> {
  if (/^data:/i.test(url)) return readDataURL(url, mediaType, param);
  if (!URL.canParse(url)) throw invalidValue(param, "This is no URL.");
  if (isFileStore(url) || kindOfAddress(url) === unknownMedia) {
    throw beyondTarget(
      param,
      "Files in accounts of providers, and videos, cannot be set here. Send the content itself, as a 'data:' URL.",
    );
  }
  if (!isSupported(url, mediaType, await model.supportedUrls)) {
    throw beyondTarget(param, "This model cannot fetch that URL: send the content itself, as a 'data:' URL.");
  }
  return { mediaType, data: new URL(url) };
}

/** Longer than the addresses that servers take. The expressions of a model are its maker's, and may look at each end from each beginning. */
const longestURL = 8192;

/** By the AI SDK's rule: of the media type or of all of its kind, in lower case. */
function isSupported(url: string, mediaType: string, supported: SupportedUrls): boolean {
  if (url.length > longestURL) return false;
  const kind = mediaType.split("/")[0] ?? "";
  return Object.entries(supported).some(([key, patterns]) => {
    const applies = key === "*" || key === "*/*" || key.toLowerCase() === mediaType || key.startsWith(`${kind}/`);
    return (
      applies &&
      patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace("g", "")).test(url.toLowerCase()))
    );
  });
}
