import { closestName, withHints } from "../../check/known-options.js";
import type { Price, PriceTerm } from "../../prices/price.js";
import { operations, protocolTables } from "../../protocols/operations.js";
import { restrictedNames } from "../../protocols/shared/member-rules.js";
import { audioTypes, contextTypes, type ModelType } from "../../protocols/shared/model-type.js";
import {
  type CatalogOptions,
  imageTokensOf,
  pricesImageTokens,
  pricesOutput,
  type ResolvedModel,
} from "./model-schema.js";

/** What in models and providers does not fit together, one sentence each. */
export function catalogProblems({ models, providers }: CatalogOptions): string[] {
  const problems: string[] = [];
  const known = Object.keys(providers);
  const ids = new Set<string>();
  for (const model of models) {
    const { id, type, price, contextLength, maxOutputTokens } = model;
    problems.push(...priceProblems(type, price, "price").map((problem) => `The model "${id}" ${problem}`));
    if (ids.has(id)) problems.push(`The model "${id}" appears twice. Ids must be unique.`);
    ids.add(id);
    problems.push(...findTargetProblems(model, known));
    problems.push(...findAllowedProblems(model, providers));
    if (contextLength === undefined && countsTokens(model)) {
      problems.push(`The model "${id}" has no contextLength.`);
    }
    if (pricesImageTokens(model) && imageTokensOf(model) === undefined) {
      problems.push(
        `The model "${id}" is priced by tokens of output, and has no imageTokens. Say how many tokens an image has at the most, ` +
          "such as imageTokens: [{ tokens: 7030 }].",
      );
    }
    if (maxOutputTokens === undefined && audioTypes.includes(type) && pricesOutput(model)) {
      problems.push(
        `The model "${id}" is priced by tokens of output, and has no maxOutputTokens. Nothing else bounds them.`,
      );
    }
    if (maxOutputTokens !== undefined && contextLength !== undefined && maxOutputTokens > contextLength) {
      problems.push(`The model "${id}" has a maxOutputTokens larger than its contextLength.`);
    }
  }
  return [...problems, ...findAliasProblems(models, ids)];
}

function countsTokens({ type, price }: ResolvedModel): boolean {
  return contextTypes.includes(type) || (type === "rerank" && price.input !== undefined);
}

function findAliasProblems(models: readonly ResolvedModel[], ids: ReadonlySet<string>): string[] {
  const owners = new Map<string, string>();
  return models.flatMap(({ id, aliases = [] }) =>
    aliases.flatMap((alias) => {
      const owner = ids.has(alias) ? alias : owners.get(alias);
      if (owner === undefined) owners.set(alias, id);
      if (owner === undefined) return [];
      return aliasProblem(id, alias, owner);
    }),
  );
}

/** @param owner - the model that has the name already. */
export function aliasProblem(id: string, alias: string, owner: string): string {
  const taken = owner === alias ? "is the id of a model" : `is an alias of the model "${owner}" already`;
  return `The model "${id}" has the alias "${alias}", which ${taken}. Ids and aliases must be unique.`;
}

function findTargetProblems({ id, type, upstream }: ResolvedModel, known: readonly string[]): string[] {
  const problems: string[] = [];
  for (const { provider, price, cost } of upstream) {
    if (!known.includes(provider)) {
      problems.push(
        `The model "${id}" names the provider "${provider}", which is not in \`providers\`. ` +
          (known.length === 0 ? "There are none." : `There are: ${known.map((text) => `"${text}"`).join(", ")}.`),
      );
    }
    for (const [name, each] of Object.entries({ price, cost })) {
      if (each === undefined) continue;
      for (const problem of priceProblems(type, each, name)) {
        problems.push(`The target "${provider}" of the model "${id}" ${problem}`);
      }
    }
  }
  const prioritized = upstream.filter(({ priority }) => priority !== undefined).length;
  if (prioritized > 0 && prioritized < upstream.length) {
    problems.push(`Some targets of the model "${id}" have a priority and some have none. Give it to all, or to none.`);
  }
  return problems;
}

/** Allowing what is not restricted has no effect, so that the name must be misspelled. */
function findAllowedProblems(
  { id, upstream, allowMembers = [] }: ResolvedModel,
  providers: CatalogOptions["providers"],
): string[] {
  const restricted = upstream.flatMap(({ provider }) => Object.keys(providers[provider]?.dialect?.restricted ?? {}));
  const known = [...restrictedNames, ...restricted, ...refusedMembers];
  const allowed = new Set([...allowMembers, ...upstream.flatMap((target) => target.allowMembers ?? [])]);
  const wrong = [...allowed].filter((name) => !known.includes(name) && !mayBeAllowed(name, known));
  if (wrong.length === 0) return [];
  return [`The model "${id}" allows members that are not restricted: ${withHints(wrong, known)}.`];
}

const allowable = protocolTables.flatMap(({ rows }) =>
  rows.filter(({ treatment, always }) => always !== true && (treatment === "refused" || treatment === "left out")),
);

const refusedMembers = allowable.filter(({ place }) => place === "member").flatMap(({ names }) => names);

/**
 * A name that the tables refuse in some place, or one that is in none of them.
 * @param known - members, of which it must not be a misspelling.
 */
function mayBeAllowed(name: string, known: readonly string[]): boolean {
  const rows = protocolTables.flatMap((table) => places.flatMap((place) => table.find(place, name) ?? []));
  if (rows.some((row) => allowable.includes(row))) return true;
  return rows.length === 0 && closestName(name, known) === undefined;
}

const places = [...new Set(protocolTables.flatMap(({ rows }) => rows.map(({ place }) => place)))];

/**
 * What is wrong with a price of a model of this type: what follows its name in a sentence.
 * @param name - of the option, `price` or `cost`.
 */
function priceProblems(type: ModelType, price: Price, name: string): string[] {
  const priced = operations.filter(({ modelTypes }) => modelTypes.includes(type)).map((each) => each.priced);
  const missing = new Set(priced.flatMap(({ required }) => lackOf(required, price, name)));
  const known = priced.map((each) => each.known).reduce((all, each) => all.filter((term) => each.includes(term)));
  const unknown = termsOf(price).filter((term) => !known.includes(term));
  return [
    ...missing,
    ...unknown.map((term) => {
      return `has a ${name}.${term}, which calls of the type "${type}" never count. Leave it out. There are: ${known.join(", ")}.`;
    }),
  ];
}

/** With one way to price, each member that it lacks; with several ways, all of them. */
function lackOf(required: readonly (readonly PriceTerm[])[], price: Price, name: string): string[] {
  const missing = required.map((terms) => terms.filter((term) => price[term] === undefined));
  if (missing.length === 0 || missing.some((terms) => terms.length === 0)) return [];
  const [only = [], ...others] = missing;
  if (others.length === 0) return only.map((term) => `has no ${name}.${term}.`);
  const ways = required.map((terms) => terms.map((term) => `${name}.${term}`).join(" and "));
  return [`has neither ${ways.join(", nor ")}. Give it one of these.`];
}

function termsOf(price: Price): PriceTerm[] {
  return (Object.keys(price) as PriceTerm[]).filter((term) => price[term] !== undefined);
}
