import * as z from "zod";
import { countableCredits, priceFactor } from "../../check/limit-schemas.js";
import { freeText, idText } from "../../check/text-schemas.js";
import { GatewayError } from "../../errors/gateway-error.js";
import { notFound, type PageRoute, pageRoute } from "../server/page-route.js";
import { accountQuery, wholeAccount } from "./account-routes.js";
import {
  idQuery,
  namedVersion,
  noteShape,
  type Operator,
  type OperatorServices,
  operatorAuthor,
  unlessChanged,
  versionMismatch,
} from "./operator-services.js";
import { toOperatorKey } from "./to-operator-account.js";

const positive = countableCredits.positive("must be more than 0");
const seconds = z.number().int().positive().max(8.64e12);
const models = z.array(idText()).min(1, "must name one model at least").max(1000).nullish();
/** What is booked once: the page makes it when its form opens. */
const bookingId = idText(200);
const windowName = z.enum(["session", "week", "month"]);

const newAccount = z.strictObject({ id: idText(128), plan: idText(), ...noteShape });
const accountChange = z.strictObject({ plan: idText().optional(), models, price_factor: priceFactor, ...noteShape });
const suspension = z.strictObject({ message: freeText(1000).optional(), ...noteShape });
const onlyNote = z.strictObject(noteShape);
const topUp = z.strictObject({ id: bookingId, credits: positive, expires_at: seconds.nullish(), ...noteShape });
const deduction = z.strictObject({ id: bookingId, credits: positive, ...noteShape });
const grant = z.strictObject({
  ...{ id: bookingId, window: windowName },
  credits: z.number().refine((credits) => credits !== 0 && Math.abs(credits) <= mostGranted, {
    error: "must not be 0, and at most 9,000,000,000",
  }),
  ...noteShape,
});
const reset = z.strictObject({ windows: z.array(windowName).min(1).max(3).optional(), ...noteShape });

const mostGranted = 9e9;

/** What changes accounts. Each change is the operator's, with a note, in the audit trail. */
export function accountChanges(services: OperatorServices): readonly PageRoute<Operator>[] {
  const { accounts } = services.gateway;
  return [
    createRoute(services),
    pageRoute<Operator, typeof accountQuery, typeof accountChange>({
      method: "PATCH",
      path: "account",
      query: accountQuery,
      body: accountChange,
      async answer({ identity, query: { id }, body: { note, price_factor, ...given }, request }) {
        const expected = namedVersion(request);
        // It is there, or cannot be changed.
        if (expected === null) throw versionMismatch();
        const change = { ...given, priceFactor: price_factor };
        await unlessChanged(() => accounts.update(id, change, { expected, ...operatorAuthor(identity, { note }) }));
        return { json: await wholeAccount(services, id) };
      },
    }),
    change(services, "suspend", suspension, (id, { note, ...given }, identity) =>
      accounts.suspend(id, { ...given, ...operatorAuthor(identity, { note }) }),
    ),
    change(services, "resume", onlyNote, (id, body, identity) => accounts.resume(id, operatorAuthor(identity, body))),
    change(services, "top-up", topUp, (account, { note, expires_at, ...given }, identity) =>
      accounts.topUp(account, {
        ...given,
        expiresAt: typeof expires_at === "number" ? expires_at * 1000 : null,
        ...operatorAuthor(identity, { note }),
      }),
    ),
    change(services, "deduct", deduction, (account, { note, ...given }, identity) =>
      accounts.deduct(account, { ...given, ...operatorAuthor(identity, { note }) }),
    ),
    change(services, "grant", grant, (account, { id, window, credits, note }, identity) =>
      accounts.grant(account, { id, window, amountMicro: toMicro(credits), ...operatorAuthor(identity, { note }) }),
    ),
    change(services, "reset", reset, (account, { windows, note }, identity) =>
      accounts.reset(account, windows, operatorAuthor(identity, { note })),
    ),
  ];
}

function createRoute(services: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, undefined, typeof newAccount>({
    method: "POST",
    path: "accounts",
    body: newAccount,
    async answer({ identity, body: { id, plan, ...rest } }) {
      try {
        await services.gateway.accounts.put({ id, plan }, { expected: null, ...operatorAuthor(identity, rest) });
      } catch (error) {
        if (error instanceof Error && error.name === "AccountConflictError") throw accountExists();
        throw error;
      }
      return { status: 201, json: await wholeAccount(services, id) };
    },
  });
}

/** A change by its name, which answers with the account as it is then. */
function change<Body extends z.ZodObject>(
  services: OperatorServices,
  name: string,
  body: Body,
  make: (id: string, body: z.output<Body>, identity: Operator) => Promise<unknown>,
): PageRoute<Operator> {
  return pageRoute<Operator, typeof accountQuery, z.ZodObject>({
    method: "POST",
    path: `account/${name}`,
    query: accountQuery,
    body,
    async answer({ identity, query: { id }, body }) {
      // What `pageRoute` lets through is the output of this very schema.
      await make(id, body as z.output<Body>, identity);
      return { json: await wholeAccount(services, id) };
    },
  });
}

/** Whole micro-credits: those of a form have at most six decimals. */
function toMicro(credits: number): number {
  return Math.round(credits * 1_000_000);
}

function accountExists(): GatewayError {
  return new GatewayError("There is an account of this id already.", { status: 409, code: "account_exists" });
}

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
