import { type AISDKProviderOptions, providerName } from "../ai-sdk-model.js";

/**
 * Members that the specification has no word for, as provider options. OpenAI's models look for theirs under `openai`, whatever
 * their provider is called, and have names of their own; the models of others pass theirs on.
 */
export function mediaSettings(
  request: Record<string, unknown>,
  model: { readonly provider: string },
  names: readonly string[],
): AISDKProviderOptions {
  const given = names.filter((name) => request[name] !== undefined && request[name] !== null);
  const own = Object.fromEntries(given.map((name) => [name, request[name]]));
  const openai = Object.fromEntries(given.map((name) => [camelCase(name), request[name]]));
  return { [providerName(model)]: own, openai };
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
