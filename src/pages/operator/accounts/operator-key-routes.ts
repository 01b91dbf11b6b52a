import * as z from "zod";
import { freeText, idText } from "../../../check/id-text.js";
import { notFound } from "../../server/page-error.js";
import { type PageRoute, pageRoute } from "../../server/page-route.js";
import { idQuery, noteShape, operatorAuthor } from "../operator-input.js";
import type { Operator, OperatorServices } from "../operator-services.js";
import { toOperatorKey } from "./to-operator-account.js";

const keyChange = z.strictObject({
  /** Moves the key, with its secret. */
  account: idText(128).optional(),
  enabled: z.boolean().optional(),
  name: freeText(200).optional(),
  ...noteShape,
});
const revocation = z.strictObject(noteShape);

/** One key by its id. Its secret is nowhere. */
export function operatorKeyRoute({ gateway, clock }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof idQuery>({
    method: "GET",
    path: "key",
    query: idQuery,
    async answer({ query: { id } }) {
      const key = await gateway.keys.get(id);
      if (key === undefined) throw notFound();
      return { json: toOperatorKey(key, clock.now()) };
    },
  });
}

export function operatorKeyChanges({ gateway, clock }: OperatorServices): readonly PageRoute<Operator>[] {
  return [
    pageRoute<Operator, typeof idQuery, typeof keyChange>({
      method: "PATCH",
      path: "key",
      query: idQuery,
      body: keyChange,
      async answer({ identity, query: { id }, body: { note, ...given } }) {
        return {
          json: toOperatorKey(await gateway.keys.update(id, given, operatorAuthor(identity, { note })), clock.now()),
        };
      },
    }),
    pageRoute<Operator, typeof idQuery, typeof revocation>({
      method: "POST",
      path: "key/revoke",
      query: idQuery,
      body: revocation,
      async answer({ identity, query: { id }, body }) {
        return { json: toOperatorKey(await gateway.keys.revoke(id, operatorAuthor(identity, body)), clock.now()) };
      },
    }),
  ];
}
