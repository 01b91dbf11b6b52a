import { createAccountPage } from "infergate/pages";
import { cookies } from "next/headers";
import { gateway } from "./gateway.ts";
import { guestOf } from "./guest-cookie.ts";

/** Mounted at app/account/[[...path]]/route.ts: what a guest has left, and keys of their own. */
export const account = createAccountPage({
  gateway,
  basePath: "/account",
  title: "Acme AI",
  identify: async () => {
    const guest = guestOf((await cookies()).get("guest")?.value);
    return guest === undefined ? null : { account: guest, plan: "guest", anchor: null };
  },
});
