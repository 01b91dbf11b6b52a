import { useState } from "preact/hooks";
import type { OperatorList, OperatorPlan } from "../../operator/operator-page-api.js";
import { callApi } from "../parts/api.js";
import { credits } from "../parts/format.js";
import { Empty } from "../parts/notice.js";
import { type Column, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { ChangeForm, type FormValues } from "./change-form.js";
import { type DataField, DocumentForm, precondition } from "./document-form.js";
import { Cut, cut, Shown, Tasks } from "./pieces.js";
import { viewLink, withQuery } from "./query.js";
import { type OperatorViewProps, texts } from "./settings.js";

const windows = ["session", "week", "month"] as const;
const fields: readonly DataField[] = [
  { path: "id", label: texts.id },
  { path: "models", label: texts.models, kind: "lines", hint: texts.patternsHint },
  ...windows.map((name): DataField => {
    const label = fill(texts.creditsOf, { window: texts[name] });
    return { path: `credits.${name}`, label, kind: "number", isOptional: true };
  }),
  { path: "priceFactor", label: texts.priceFactor, kind: "number", isOptional: true, hint: texts.priceFactorHint },
];
const fresh = { id: "", models: ["*"], credits: { month: 10 } };

type Task = "edit" | "remove";

export function PlansView({ health }: OperatorViewProps) {
  const plans = useApi<OperatorList<OperatorPlan>>("plans");
  const [task, setTask] = useState<readonly [Task, OperatorPlan | undefined]>();
  const [name, plan] = task ?? [];
  const done = { onDone: plans.reload, onClose: () => setTask(undefined) };
  const columns: Column<OperatorPlan>[] = [...ownColumns];
  if (!health.read_only) {
    columns.push({
      head: texts.change,
      cell: (one) => <Tasks of={one.id} tasks={["edit", "remove"]} onTask={(next) => setTask([next, one])} />,
    });
  }
  return (
    <>
      {!health.read_only && (
        <div class="actions">
          <button type="button" class="primary" onClick={() => setTask(["edit", undefined])}>
            {texts.newPlan}
          </button>
        </div>
      )}
      <Shown of={plans} missing={texts.noPlanList}>
        {({ data }) => (
          <section class="card" aria-label={texts.plans}>
            {data.length === 0 ? (
              <Empty title={texts.noPlans} />
            ) : (
              <Table caption={texts.plans} columns={columns} rows={data} keyOf={({ id }) => id} />
            )}
          </section>
        )}
      </Shown>
      {name === "edit" && (
        <DocumentForm
          kind="plan"
          title={plan === undefined ? texts.newPlan : fill(texts.editOf, { name: plan.id })}
          data={plan?.plan ?? fresh}
          version={plan?.version ?? null}
          fields={plan === undefined ? fields : fields.slice(1)}
          {...done}
        />
      )}
      {name === "remove" && plan && <RemovePlan plan={plan} {...done} />}
    </>
  );
}

interface RemovePlanProps {
  readonly plan: OperatorPlan;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

function RemovePlan({ plan: { id, version }, onDone, onClose }: RemovePlanProps) {
  const send = async (body: FormValues) => {
    await callApi(withQuery("plan/remove", { id }), { method: "POST", body, headers: precondition(version) });
    await onDone();
  };
  const title = fill(texts.removeOf, { name: id });
  return (
    <ChangeForm {...{ title, send, onClose }} action={texts.task_remove} isDangerous more={texts.removePlanMore} />
  );
}

const ownColumns: readonly Column<OperatorPlan>[] = [
  {
    head: texts.plan,
    cell: ({ id }) => (
      <a href={viewLink("accounts", { plan: id })}>
        <Cut>{id}</Cut>
      </a>
    ),
  },
  cut(texts.models, ({ plan }) => plan.models.join(", ")),
  ...windows.map((name): Column<OperatorPlan> => {
    const cell = ({ plan }: OperatorPlan) =>
      plan.credits?.[name] == null ? texts.unlimited : credits(plan.credits[name]);
    return { head: texts[name], isNumeric: true, cell };
  }),
  { head: texts.priceFactor, isNumeric: true, cell: ({ plan }) => plan.priceFactor ?? 1 },
];
