import { MemberRules } from "../../model-api/request/member-rules.js";
import { defaultOperations, type UpstreamProvider } from "../../providers/upstream-provider.js";
import type { ResolvedTarget } from "../target-options.js";
import type { ResolvedModel } from "./catalog-shape.js";

/** The rules of a model's targets for members of requests. Targets that have the same share them: each costs time. */
export class RulesOfTargets {
  readonly #model: ResolvedModel;
  readonly #known: { readonly provider: UpstreamProvider; readonly options: string; readonly rules: MemberRules }[] =
    [];

  constructor(model: ResolvedModel) {
    this.#model = model;
  }

  /** Each once. */
  get all(): readonly MemberRules[] {
    return this.#known.map(({ rules }) => rules);
  }

  of(provider: UpstreamProvider, target: ResolvedTarget): MemberRules {
    const allowed = target.allowMembers ?? this.#model.allowMembers;
    const unknown = target.unknownMembers ?? this.#model.unknownMembers;
    const options = JSON.stringify([allowed, unknown]);
    const known = this.#known.find((each) => each.provider === provider && each.options === options);
    if (known !== undefined) return known.rules;
    const speaks = new Set(provider.operations ?? defaultOperations);
    const rules = new MemberRules(provider.dialect ?? {}, { allowed, unknown, speaks });
    this.#known.push({ provider, options, rules });
    return rules;
  }
}
