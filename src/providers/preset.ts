import type { Dialect } from "../protocols/shared/dialect.js";
import { toProvider } from "./openai-compatible.js";
import { checkOpenAICompatibleOptions, type OpenAICompatibleOptions } from "./openai-compatible-options.js";
import { defaultOperations, type UpstreamOperation, type UpstreamProvider } from "./upstream-provider.js";

/**
 * Options of a preset: those of `openAICompatible`. What `dialect` names replaces that of the preset, member by member.
 */
export interface PresetOptions extends Omit<OpenAICompatibleOptions, "baseURL"> {
  /**
   * Where the API begins, if not at the usual place.
   * @default the preset's own
   */
  baseURL?: string | undefined;
}

/** What a preset knows about its server. */
interface Preset {
  /** The factory's name, for error messages. */
  name: string;
  baseURL: string;
  dialect: Dialect;
  /** What it speaks whatever its version is. Default: what `openAICompatible` does. */
  operations?: readonly UpstreamOperation[];
}

/** @throws TypeError when an option is not valid. */
export function fromPreset({ name, baseURL, dialect, operations }: Preset, options: PresetOptions): UpstreamProvider {
  const given = {
    ...options,
    baseURL: options.baseURL ?? baseURL,
    operations: options.operations ?? operations,
    dialect: { strictMembers: true, ...dialect, ...options.dialect },
  };
  return toProvider(checkOpenAICompatibleOptions(given, name));
}

/** Options of a preset whose server has learned further APIs in the course of time. */
export interface VersionedPresetOptions extends PresetOptions {
  /**
   * The version of the server, such as `"0.14.0"`. Clients of the Responses and Messages APIs that this version speaks are
   * passed to it in their own words. `operations` overrides it.
   * @default undefined: requests of these clients are translated into chat completions, which every version speaks
   */
  version?: string | undefined;
}

/** The version from which a server speaks an API. */
export type Since = readonly [version: string, operation: UpstreamOperation];

/** @throws TypeError when an option is not valid. */
export function fromVersionedPreset(
  preset: Preset,
  since: readonly Since[],
  { version, ...options }: VersionedPresetOptions,
): UpstreamProvider {
  if (version === undefined) return fromPreset(preset, options);
  const own = numbersOf(version);
  if (own === undefined) {
    throw new TypeError(`${preset.name}: version must be a version such as "0.14.0", not ${JSON.stringify(version)}.`);
  }
  const learned = since.filter(([first]) => isAtLeast(own, numbersOf(first) ?? []));
  const operations = [...(preset.operations ?? defaultOperations), ...learned.map(([, operation]) => operation)];
  return fromPreset({ ...preset, operations }, options);
}

/** `v0.11.1rc2` is 0.11.1: what follows the numbers says how it was built. */
function numbersOf(version: unknown): number[] | undefined {
  const found = typeof version === "string" ? /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?![\d.])/.exec(version) : null;
  return found?.[1]?.split(".").map(Number);
}

function isAtLeast(version: readonly number[], first: readonly number[]): boolean {
  for (const [place, number] of first.entries()) {
    const own = version[place] ?? 0;
    if (own !== number) return own > number;
  }
  return true;
}
