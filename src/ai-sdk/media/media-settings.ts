import { type AISDKProviderOptions, providerName } from "../ai-sdk-model.js";

type Settings = Readonly<Record<string, unknown>>;

/**
 * Members that the specification has no word for, as provider options. OpenAI's models look for theirs under `openai`, whatever
 * their provider is called, and have names of their own; the models of others pass theirs on.
 */
export function mediaSettings(
  request: Settings,
  model: { readonly provider: string },
  names: readonly string[],
): AISDKProviderOptions {
  const own = Object.fromEntries(names.map((name) => [name, request[name]] as const).filter(isGiven));
  return { [providerName(model)]: own, openai: inCamelCase(own) };
}

/** The same for models that all have names of their own. */
export function camelSettings(settings: Settings, model: { readonly provider: string }): AISDKProviderOptions {
  const own = inCamelCase(settings);
  return { [providerName(model)]: own, openai: own };
}

function inCamelCase(settings: Settings): Settings {
  const given = Object.entries(settings).filter(isGiven);
  return Object.fromEntries(given.map(([name, value]) => [camelCase(name), value]));
}

function isGiven([, value]: readonly [string, unknown]): boolean {
  return value !== undefined && value !== null;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
