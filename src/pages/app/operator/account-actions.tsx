import { useState } from "preact/hooks";
import type { OperatorAccount, OperatorKey, OperatorList, OperatorPlan } from "../../operator/operator-page-api.js";
import { callApi } from "../parts/api.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { ChangeForm, type FormField, type FormValues, linesOf } from "./change-form.js";
import { newId, withQuery } from "./query.js";
import { texts } from "./settings.js";

/** The ids of all plans, where they can be listed. */
export function usePlanIds(): readonly string[] {
  return useApi<OperatorList<OperatorPlan>>("plans").data?.data.map(({ id }) => id) ?? [];
}

/** What can be done to an account. */
export type AccountTask = "topUp" | "grant" | "deduct" | "reset" | "terms" | "suspend" | "resume";

interface TaskForm {
  /** Below the account's. */
  readonly path: string;
  readonly fields?: readonly FormField[];
  readonly isDangerous?: boolean;
  /** What is sent, beside the note. */
  readonly body: (values: FormValues) => object;
}

const amount: FormField = { name: "credits", label: texts.credits, kind: "number" };
const windows = (["month", "week", "session"] as const).map((name) => [name, texts[name]] as const);

/** Of each task. @param id - what books it once. */
const forms: Readonly<
  Record<AccountTask, (account: OperatorAccount, id: string, plans: readonly string[]) => TaskForm>
> = {
  topUp: (_, id) => ({
    path: "account/top-up",
    fields: [
      amount,
      { name: "expires", label: texts.expires, kind: "date", isOptional: true, hint: texts.expiresHint },
    ],
    body: ({ credits, expires }) => ({
      ...{ id, credits: Number(credits) },
      ...(expires && { expires_at: new Date(`${expires}T00:00`).getTime() / 1000 }),
    }),
  }),
  deduct: (_, id) => ({
    path: "account/deduct",
    fields: [amount],
    isDangerous: true,
    body: ({ credits }) => ({ id, credits: Number(credits) }),
  }),
  grant: (_, id) => ({
    path: "account/grant",
    fields: [{ name: "window", label: texts.window, options: windows, value: "month" }, amount],
    body: ({ window, credits }) => ({ id, window, credits: Number(credits) }),
  }),
  reset: () => ({
    path: "account/reset",
    fields: [{ name: "window", label: texts.window, options: [["", texts.all], ...windows] }],
    isDangerous: true,
    body: ({ window }) => (window ? { windows: [window] } : {}),
  }),
  terms: ({ record }, _, plans) => ({
    path: "account",
    fields: [
      { name: "plan", label: texts.plan, known: plans, value: record?.plan ?? "" },
      {
        ...{ name: "models", label: texts.models, kind: "lines", isOptional: true, hint: texts.modelsHint },
        value: record?.models?.join("\n") ?? "",
      },
      {
        ...{
          name: "price_factor",
          label: texts.priceFactor,
          kind: "number",
          isOptional: true,
          hint: texts.priceFactorHint,
        },
        value: String(record?.price_factor ?? ""),
      },
    ],
    body: ({ plan, models = "", price_factor }) => ({
      plan,
      models: linesOf(models).length === 0 ? null : linesOf(models),
      price_factor: price_factor ? Number(price_factor) : null,
    }),
  }),
  suspend: () => ({
    path: "account/suspend",
    fields: [{ name: "message", label: texts.message, isOptional: true, hint: texts.messageHint }],
    isDangerous: true,
    body: ({ message }) => (message ? { message } : {}),
  }),
  resume: () => ({ path: "account/resume", body: () => ({}) }),
};

interface AccountFormProps {
  readonly task: AccountTask;
  readonly account: OperatorAccount;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** One of them, with its note. What it books is booked once, however often it is sent. */
export function AccountForm({ task, account, onDone, onClose }: AccountFormProps) {
  const [id] = useState(newId);
  const { path, body, ...form } = forms[task](account, id, usePlanIds());
  const send = async ({ note = "", ...values }: FormValues) => {
    const isTerms = task === "terms";
    const version = account.record?.version;
    await callApi(withQuery(path, { id: account.id }), {
      method: isTerms ? "PATCH" : "POST",
      body: { ...body(values), note },
      ...(isTerms && version && { headers: { "if-match": `"${version}"` } }),
    });
    await onDone();
  };
  const action = texts[`task_${task}`];
  return (
    <ChangeForm
      {...form}
      {...{ action, send, onClose }}
      title={`${action}: ${account.id}`}
      more={texts[`more_${task}`]}
    />
  );
}

/** What can be done to a key. */
export type KeyTask = "move" | "enable" | "disable" | "revoke";

interface KeyFormProps extends Omit<AccountFormProps, "task" | "account"> {
  readonly task: KeyTask;
  readonly of: OperatorKey;
}

export function KeyForm({ task, of: { id, name, hint, account }, onDone, onClose }: KeyFormProps) {
  const send = async ({ note = "", ...values }: FormValues) => {
    const change = task === "move" ? values : { enabled: task === "enable" };
    const isOver = task === "revoke";
    await callApi(withQuery(isOver ? "key/revoke" : "key", { id }), {
      method: isOver ? "POST" : "PATCH",
      body: isOver ? { note } : { ...change, note },
    });
    await onDone();
  };
  const action = texts[`task_${task}`];
  return (
    <ChangeForm
      {...{ action, send, onClose }}
      title={`${action}: ${name ?? hint}`}
      isDangerous={task === "revoke" || task === "disable"}
      fields={task === "move" ? [{ name: "account", label: texts.toAccount }] : []}
      more={task === "move" ? fill(texts.moveMore, { account }) : task === "revoke" ? texts.revokeMore : undefined}
    />
  );
}
