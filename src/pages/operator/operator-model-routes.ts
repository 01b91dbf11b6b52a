import * as z from "zod";
import type { StorableModel } from "../../gateway/catalog/stored-model-schema.js";
import type { ManagedModel } from "../../gateway/stored-models/model-state.js";
import { unlessUnsupported } from "../server/is-unsupported.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { idQuery, noteShape, operatorAuthor, orNull } from "./operator-input.js";
import type { OperatorCheck, OperatorModel } from "./operator-page-api.js";
import type { Operator, OperatorServices } from "./operator-services.js";
import { changesOf, documentSchema, refusedCheck } from "./plan-routes.js";
import { requiredVersion, unlessChanged, versionMismatch } from "./precondition.js";

const checkBody = z.strictObject({ model: documentSchema });
const modelBody = z.strictObject({ model: documentSchema, ...noteShape });
const removal = z.strictObject(noteShape);

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
  return pageRoute<Operator, undefined, typeof checkBody>({
    method: "POST",
    path: "models/check",
    body: checkBody,
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
