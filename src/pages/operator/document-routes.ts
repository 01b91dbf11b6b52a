import * as z from "zod";
import { ModelPatterns } from "../../access/model-patterns.js";
import { explainOnce } from "../../check/check-input.js";
import { problemsOf } from "../../check/list-problems.js";
import { isSameData, withoutNulls } from "../../check/plain-data.js";
import type { ManagedModel } from "../../gateway/models/managed-models.js";
import type { StorableModel } from "../../gateway/models/stored-model.js";
import type { Plan } from "../../records/plans/plan-store.js";
import { newPlanSchema } from "../../records/plans/record-plan-store.js";
import { Turns } from "../server/page-api.js";
import { type PageRoute, pageRoute, unlessUnsupported } from "../server/page-route.js";
import type { OperatorCheck, OperatorModel, OperatorPlan } from "./operator-page-api.js";
import {
  idQuery,
  noteShape,
  type Operator,
  type OperatorServices,
  operatorAuthor,
  orNull,
  requiredVersion,
  unlessChanged,
  versionMismatch,
} from "./operator-services.js";

/** A plan or a model as the store has it, of which the gateway says what is wrong. */
const documentSchema = z.record(z.string(), z.unknown());
const checkBody = z.strictObject({ plan: documentSchema });
const planBody = z.strictObject({ plan: documentSchema, ...noteShape });
const removal = z.strictObject(noteShape);

export function plansRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator>({
    method: "GET",
    path: "plans",
    async answer() {
      const plans = await gateway.plans.list();
      return { json: { data: await Promise.all(plans.map(toOperatorPlan)), next: null } };
    },
  });
}

/** What is wrong with a plan, what would change, and which models it would let in. It changes nothing. */
export function planCheckRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, undefined, typeof checkBody>({
    method: "POST",
    path: "plans/check",
    body: checkBody,
    async answer({ body: { plan } }) {
      const result = newPlanSchema.safeParse(plan, explainOnce("member"));
      if (!result.success) return { json: refusedCheck(problemsOf(result.error)) };
      const [before, all] = await Promise.all([gateway.plans.get(result.data.id), gateway.models.list()]);
      const patterns = new ModelPatterns(result.data.models);
      const inForce = all.filter(({ model }) => model !== undefined);
      const check: OperatorCheck = {
        problems: [],
        warnings: [],
        changes: changesOf(before ?? {}, plan),
        models: inForce.filter(({ id }) => patterns.has(id)).map(({ id }) => id),
      };
      return { json: check };
    },
  });
}

/** A store of plans has no versions: what another process writes within the same moment is not seen. */
export function planChanges({ gateway }: OperatorServices): readonly PageRoute<Operator>[] {
  const turns = new Turns();
  const requireVersion = async (id: string, expected: string | null): Promise<void> => {
    const plan = await gateway.plans.get(id);
    if ((plan === undefined ? null : await planVersion(plan)) !== expected) throw versionMismatch();
  };
  return [
    pageRoute<Operator, undefined, typeof planBody>({
      method: "PUT",
      path: "plan",
      body: planBody,
      async answer({ identity, body: { plan: given, ...rest }, request }) {
        const expected = requiredVersion(request);
        // `put` says what is wrong with it.
        const plan = given as unknown as Plan;
        const id = String(plan.id);
        return turns.take(id, async () => {
          if (newPlanSchema.safeParse(plan).success) await requireVersion(id, expected);
          await gateway.plans.put(plan, operatorAuthor(identity, rest));
          return { json: await toOperatorPlan((await gateway.plans.get(id)) ?? plan) };
        });
      },
    }),
    pageRoute<Operator, typeof idQuery, typeof removal>({
      method: "POST",
      path: "plan/remove",
      query: idQuery,
      body: removal,
      async answer({ identity, query: { id }, body, request }) {
        const expected = requiredVersion(request);
        return turns.take(id, async () => {
          await requireVersion(id, expected);
          return { json: { removed: await gateway.plans.delete(id, operatorAuthor(identity, body)) } };
        });
      },
    }),
  ];
}

function refusedCheck(problems: readonly string[]): OperatorCheck {
  return { problems, warnings: [], changes: [], models: null };
}

/** Members that differ. */
function changesOf(before: object, after: object): OperatorCheck["changes"] {
  const [old, fresh] = [before, after].map((members) => new Map(Object.entries(members)));
  const names = [...new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])])];
  return names
    .filter((name) => !isSameData(old?.get(name) ?? null, fresh?.get(name) ?? null))
    .map((member) => ({ member, before: old?.get(member), after: fresh?.get(member) }));
}

async function toOperatorPlan(plan: Plan): Promise<OperatorPlan> {
  return { id: plan.id, version: await planVersion(plan), plan: plan as object as OperatorPlan["plan"] };
}

/** A digest of its members, whatever their order. */
async function planVersion(plan: Plan): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(sorted(withoutNulls(plan))));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(digest.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}

const modelCheckBody = z.strictObject({ model: documentSchema });
const modelBody = z.strictObject({ model: documentSchema, ...noteShape });

/** The models of the options and of the store, those in force first. */
export function operatorModelsRoute({ gateway, readOnly }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator>({
    method: "GET",
    path: "models",
    async answer() {
      const [models, store] = await Promise.all([
        gateway.models.list(),
        unlessUnsupported(() => gateway.models.check([])),
      ]);
      return { json: { data: models.map(toOperatorModel), next: null, editable: store !== undefined && !readOnly } };
    },
  });
}

/** What is wrong with a model, and what would change. It changes nothing. */
export function modelCheckRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, undefined, typeof modelCheckBody>({
    method: "POST",
    path: "models/check",
    body: modelCheckBody,
    async answer({ body: { model } }) {
      const { problems, changes, warnings } = await gateway.models.check(model);
      if (problems.length > 0) return { json: refusedCheck(problems) };
      const [{ before = {}, after = {} } = {}] = changes;
      const check: OperatorCheck = { problems, warnings, changes: changesOf(before, after), models: null };
      return { json: check };
    },
  });
}

export function modelChanges({ gateway }: OperatorServices): readonly PageRoute<Operator>[] {
  return [
    pageRoute<Operator, undefined, typeof modelBody>({
      method: "PUT",
      path: "model",
      body: modelBody,
      async answer({ identity, body: { model, ...rest }, request }) {
        const condition = { expected: requiredVersion(request), ...operatorAuthor(identity, rest) };
        // `put` says what is wrong with it.
        const put = () => gateway.models.put(model as unknown as StorableModel, condition);
        return { json: toOperatorModel(await unlessChanged(put)) };
      },
    }),
    pageRoute<Operator, typeof idQuery, typeof removal>({
      method: "POST",
      path: "model/remove",
      query: idQuery,
      body: removal,
      async answer({ identity, query: { id }, body, request }) {
        const expected = requiredVersion(request);
        if (expected === null) throw versionMismatch();
        const remove = () => gateway.models.remove(id, { expected, ...operatorAuthor(identity, body) });
        return { json: { removed: await unlessChanged(remove) } };
      },
    }),
  ];
}

function toOperatorModel({ id, model, source, entry, version, problem }: ManagedModel): OperatorModel {
  return {
    ...{ id, source: orNull(source), entry: orNull(entry), version: orNull(version), problem: orNull(problem) },
    model: orNull(model) as OperatorModel["model"],
  };
}
