import { createAccountPage, createOperatorPage } from "infergate/pages";
import { gateway, live } from "./gateway.js";
import { personIn } from "./signed-in.js";

/** An owner sees all of the organisation, and a member what is their own. */
export const accountPage = createAccountPage({
  gateway,
  signInUrl: "/sign-in",
  identify: ({ headers }) => {
    const [role, account = "", member = ""] = personIn(headers)?.split(":") ?? [];
    if (role === "owner") return { account, role, name: `Owner of ${account}` };
    return role === "member" && { account, role, tags: { member }, name: member };
  },
});

/** Usage with margin, prices, requests, and who changed what. */
export const operatorPage = createOperatorPage({
  gateway,
  live,
  signInUrl: "/sign-in",
  identify: ({ headers }) => personIn(headers) === "operator" && { operator: "operator" },
});
