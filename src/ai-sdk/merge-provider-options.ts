import type { AISDKProviderOptions } from "./ai-sdk-model.js";

/** Later ones win, setting by setting. */
export function mergeProviderOptions(...all: (AISDKProviderOptions | undefined)[]): AISDKProviderOptions | undefined {
  const merged: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const options of all) {
    for (const [name, settings] of Object.entries(options ?? {})) merged[name] = { ...merged[name], ...settings };
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}
