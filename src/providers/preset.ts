import type { Dialect } from "../openai/dialect.js";
import { toProvider } from "./openai-compatible.js";
import { checkOpenAICompatibleOptions, type OpenAICompatibleOptions } from "./openai-compatible-options.js";
import type { UpstreamOperation, UpstreamProvider } from "./upstream-provider.js";

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
  /** Default: those of `openAICompatible`. */
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
