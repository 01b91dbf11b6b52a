import { type Auth, betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { admin as adminPlugin } from "better-auth/plugins";
import { database, databaseType } from "./database.js";
import { admin, appUrl, sessionSecret } from "./settings.js";

export interface User {
  id: string;
  email: string;
  role?: string | null | undefined;
}

export interface Authentication {
  /** Serves /api/auth: sign-up, sign-in, sign-out. */
  auth: Pick<Auth, "handler">;
  /** Who has signed in, by the cookie. */
  findUser(headers: Headers): Promise<User | null>;
  /** Makes the tables, and the administrator. */
  prepare(): Promise<void>;
}

/** @param onSignUp - called with each new user, before the sign-up succeeds. */
export function createAuthentication(onSignUp: (user: User) => Promise<void>): Authentication {
  const auth = betterAuth({
    baseURL: appUrl ?? { allowedHosts: ["localhost:*", "127.0.0.1:*"], fallback: "http://localhost:3000" },
    secret: sessionSecret,
    database: { db: database, type: databaseType },
    emailAndPassword: { enabled: true },
    plugins: [adminPlugin()],
    databaseHooks: { user: { create: { after: onSignUp } } },
    telemetry: { enabled: false },
  });
  return {
    auth,
    findUser: async (headers) => (await auth.api.getSession({ headers }))?.user ?? null,
    prepare: async () => {
      await (await getMigrations(auth.options)).runMigrations();
      const known = await database.selectFrom("user").select("id").where("email", "=", admin.email).executeTakeFirst();
      if (!known) await auth.api.createUser({ body: { ...admin, name: "Administrator", role: "admin" } });
    },
  };
}
