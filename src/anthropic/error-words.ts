import type { GatewayError } from "../errors/gateway-error.js";

/** The longest path of a member that stands before a message. */
const longestPath = 200;

/** The message as Anthropic puts it: behind the path of the member at fault, and with its words for a prompt that is too long. */
export function errorWords({ status, code, param, message }: GatewayError): string {
  if (code === "context_length_exceeded") return tooLongWords(message);
  if (status !== 400 || param === null) return message;
  const path = dottedPath(param);
  if (code === "missing_required_parameter") return `${path}: Field required`;
  if (message.startsWith(`${path}: `)) return message;
  const expected = /^Invalid type for '[^']*': expected (.+)\.$/.exec(message)?.[1];
  return `${path}: ${expected === undefined ? message : `Input should be ${expected}`}`;
}

/** `messages[0].content[1]` is `messages.0.content.1`. */
export function dottedPath(path: string): string {
  return path.replace(/\[(\d+)\]/g, ".$1").slice(0, longestPath);
}

const ownWords = /prompt is too long\b|input length and `max_tokens` exceed context limit/;

/** Clients of Anthropic's shorten the conversation, or ask for less, when they read these words and numbers. */
function tooLongWords(message: string): string {
  const own = ownWords.exec(message);
  if (own !== null) return message.slice(own.index);
  const most = /(?:maximum context length|context (?:window|length|size)) (?:is|of) (\d+)/i.exec(message)?.[1];
  if (most === undefined) return `prompt is too long: ${message}`;
  const parts = /\((\d+) in the messages, (\d+) in the completion\)/i.exec(message);
  if (parts !== null) {
    const [, prompt, answer] = parts;
    if (Number(prompt) <= Number(most)) {
      return (
        `input length and \`max_tokens\` exceed context limit: ${prompt} + ${answer} > ${most}, ` +
        "decrease input length or `max_tokens` and try again"
      );
    }
    return `prompt is too long: ${prompt} tokens > ${most} maximum`;
  }
  const prompt = /(?:resulted in|requested|has|have|of) (\d+) (?:input |prompt )?tokens(?! and)/i.exec(
    message.replace(/^.*?maximum context length is \d+ tokens/i, ""),
  )?.[1];
  return prompt !== undefined && Number(prompt) > Number(most)
    ? `prompt is too long: ${prompt} tokens > ${most} maximum`
    : `prompt is too long: at least ${Number(most) + 1} tokens > ${most} maximum`;
}
