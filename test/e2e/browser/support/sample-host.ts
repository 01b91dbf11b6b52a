import express from "express";
import { toExpressHandler } from "../../../../src/express.js";
import {
  type AccountIdentity,
  type AccountPageOptions,
  createAccountPage,
  createOperatorPage,
  type OperatorPageOptions,
} from "../../../../src/pages.js";
import { type Host, listen } from "../../../support/adapters/host.js";
import { type SampleGateway, startSampleGateway } from "./sample-gateway.js";

/** Who is signed in by the cookie `user`. `root` is the operator. */
export const people: Readonly<Record<string, AccountIdentity>> = {
  olga: { account: "acme", name: "Olga", role: "owner" },
  ada: { account: "acme", name: "Ada", role: "member", tags: { member: "ada" } },
  bob: { account: "acme", name: "Bob", role: "member", tags: { member: "bob" } },
  eve: { account: "zenith", name: "Eve" },
};

/** Without the request for an icon that browsers make by themselves. */
const ownPage = '<link rel="icon" href="data:,"><title>Acme</title><p>The app’s own page.';

/** An app with the sample gateway at `/ai`, the account page at `/account/api` and the operator's at `/admin/ai`. */
export interface SampleHost extends SampleGateway {
  readonly origin: string;
  readonly account: string;
  readonly operator: string;
  /** Signs everybody out, or in again. */
  isOpen: boolean;
}

export async function startSampleHost(
  options: { account?: Partial<AccountPageOptions>; operator?: Partial<OperatorPageOptions> } = {},
): Promise<SampleHost> {
  const sample = await startSampleGateway();
  const { gateway, clock } = sample;
  const state = { isOpen: true };
  const userOf = (cookie: string | undefined) =>
    (state.isOpen ? /user=(\w+)/.exec(cookie ?? "")?.[1] : undefined) ?? "";
  const account = createAccountPage({
    gateway,
    clock,
    title: "Acme AI",
    identify: (request) => people[userOf(request.header("cookie"))],
    ...options.account,
  });
  const operator = createOperatorPage({
    gateway,
    clock,
    live: sample.live,
    identify: (request) => userOf(request.header("cookie")) === "root" && { operator: "root@acme.test" },
    ...options.operator,
  });
  const app = express();
  app.get("/", (_request, response) => void response.type("html").send(ownPage));
  app.use("/ai", toExpressHandler(gateway));
  app.use("/account/api", toExpressHandler(account));
  app.use("/admin/ai", toExpressHandler(operator));
  const host: Host = await listen(app);
  const origin = host.origin ?? "";
  return Object.assign(state, {
    ...sample,
    ...{ origin, account: `${origin}/account/api`, operator: `${origin}/admin/ai` },
    close: async () => {
      await host.close();
      await sample.close();
    },
  });
}
