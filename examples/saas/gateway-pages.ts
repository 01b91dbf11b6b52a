import { createAccountPage, createOperatorPage } from "infergate/pages";
import { findUser, gateway, live } from "./gateway.js";

const common = { gateway, title: "Acme Notes", signInUrl: "/" };

/** What is left, API keys, usage and models, for whoever has signed in. */
export const accountPage = createAccountPage({
  ...common,
  identify: async ({ headers }) => {
    const user = await findUser(headers);
    return user && { account: user.id, name: user.email };
  },
});

/** All accounts, for administrators. */
export const operatorPage = createOperatorPage({
  ...common,
  live,
  identify: async ({ headers }) => {
    const user = await findUser(headers);
    return user?.role === "admin" && { operator: user.email };
  },
});
