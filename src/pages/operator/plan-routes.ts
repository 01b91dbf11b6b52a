import * as z from "zod";
import { ModelPatterns } from "../../access/model-patterns.js";
import { explainOnce } from "../../check/explain-issue.js";
import { isSameData } from "../../check/is-same-data.js";
import { problemsOf } from "../../check/list-problems.js";
import { withoutNulls } from "../../check/without-nulls.js";
import { newPlanSchema } from "../../plans/plan-schema.js";
import type { Plan } from "../../plans/plan-store.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { Turns } from "../server/turns.js";
import { idQuery, noteShape, operatorAuthor } from "./operator-input.js";
import type { OperatorCheck, OperatorPlan } from "./operator-page-api.js";
import type { Operator, OperatorServices } from "./operator-services.js";
import { requiredVersion, versionMismatch } from "./precondition.js";

/** A plan or a model as the store has it, of which the gateway says what is wrong. */
export const documentSchema = z.record(z.string(), z.unknown());
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

export function refusedCheck(problems: readonly string[]): OperatorCheck {
  return { problems, warnings: [], changes: [], models: null };
}

/** Members that differ. */
export function changesOf(before: object, after: object): OperatorCheck["changes"] {
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
