import type { Gateway } from "../../gateway/gateway.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import type { checkOperator } from "./operator-identity.js";

type Operator = ReturnType<typeof checkOperator>;

/** The API of the operator's page. */
export function operatorRoutes(gateway: Gateway): readonly PageRoute<Operator>[] {
  return [
    pageRoute<Operator>({
      method: "GET",
      path: "health",
      answer: async ({ identity: { operator } }) => ({ json: { operator, ...gateway.health() } }),
    }),
  ];
}
