import { useState } from "preact/hooks";
import type { OperatorAccount, OperatorListedAccount } from "../../operator/operator-page-api.js";
import { callApi } from "../parts/api.js";
import { columnOf, credits } from "../parts/format.js";
import { Bar } from "../parts/meter.js";
import { type Column, figures } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { usePlanIds } from "./account-actions.js";
import { ChangeForm } from "./change-form.js";
import { type Filter, Filters } from "./filters.js";
import { PagedTable } from "./paged-table.js";
import { Cut, cut, Status, Two } from "./pieces.js";
import { accountLink, filtersOf, withQuery } from "./query.js";
import { type OperatorViewProps, texts } from "./settings.js";

export function AccountsView({ health, rest }: OperatorViewProps) {
  const [isMaking, setMaking] = useState(false);
  const plans = usePlanIds();
  const values = filtersOf(rest);
  const filters: readonly Filter[] = [
    { name: "query", label: texts.search, hint: texts.searchHint },
    { name: "plan", label: texts.plan, options: [["", texts.all], ...plans.map((id) => [id, id] as const)] },
    {
      name: "status",
      label: texts.status,
      options: [
        ["", texts.all],
        ...(["active", "suspended"] as const).map((one) => [one, texts[`status_${one}`]] as const),
      ],
    },
  ];
  return (
    <>
      <div class="tools end">
        <Filters view="accounts" filters={filters} values={values} />
        {!health.read_only && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            {texts.newAccount}
          </button>
        )}
      </div>
      <PagedTable<OperatorListedAccount>
        path={withQuery("accounts", values)}
        caption={texts.accounts}
        columns={columns}
        keyOf={({ id }) => id}
        empty={texts.noAccounts}
        missing={texts.noAccountStore}
        file="accounts.csv"
      />
      {isMaking && <NewAccount plans={plans} onClose={() => setMaking(false)} />}
    </>
  );
}

function NewAccount({ plans, onClose }: { readonly plans: readonly string[]; readonly onClose: () => void }) {
  const fields = [
    { name: "id", label: texts.accountId },
    { name: "plan", label: texts.plan, known: plans },
  ];
  const send = async (body: object) => {
    const made = await callApi<OperatorAccount>("accounts", { method: "POST", body });
    location.hash = accountLink(made.id);
  };
  return <ChangeForm title={texts.newAccount} action={texts.make} {...{ fields, send, onClose }} />;
}

const columns: readonly Column<OperatorListedAccount>[] = [
  {
    head: texts.account,
    cell: ({ id, record }) => (
      <Two
        more={
          record && Object.keys(record.metadata).length > 0 && <Cut>{Object.values(record.metadata).join(", ")}</Cut>
        }
      >
        <a href={accountLink(id)}>
          <Cut>{id}</Cut>
        </a>
      </Two>
    ),
    csv: ({ id }) => id,
  },
  cut(texts.plan, ({ record, balance }) => record?.plan ?? balance?.plan),
  {
    head: texts.status,
    cell: ({ record }) => <Status status={record?.status ?? "active"} />,
    csv: ({ record }) => record?.status ?? "active",
  },
  { head: texts.thisMonth, cell: (row) => <Month account={row} />, csv: ({ balance }) => balance?.month.used ?? "" },
  figures(texts.prepaid, ({ balance }) => balance?.prepaid?.balance ?? null, columnOf([1])),
];

function Month({ account: { id, balance } }: { readonly account: OperatorListedAccount }) {
  if (balance === null) return <span class="muted">{texts.creditsUnknown}</span>;
  const { used, held, limit, bonus } = balance.month;
  if (limit === null) return <>{fill(texts.meterFree, { used: credits(used) })}</>;
  return (
    <div class={`meter ${used >= limit ? "danger" : used >= 0.8 * limit ? "warning" : ""}`}>
      {fill(texts.usedOf, { used: credits(used), limit: credits(limit) })}
      <Bar label={`${texts.thisMonth}, ${id}`} {...{ used, held, limit, bonus }} />
    </div>
  );
}
