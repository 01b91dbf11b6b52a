import { useState } from "preact/hooks";
import type { OperatorModel, OperatorModelData, OperatorPageApi } from "../../operator/operator-page-api.js";
import { callApi } from "../parts/api.js";
import { number } from "../parts/format.js";
import { Badge, Empty, Notice } from "../parts/notice.js";
import { type Column, figures, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { priceVariants } from "../price-variants.js";
import { ChangeForm, type FormValues } from "./change-form.js";
import { type DataField, DocumentForm, precondition } from "./document-form.js";
import { Cut, Shown, Tasks, Two, wordOf } from "./pieces.js";
import { withQuery } from "./query.js";
import { type OperatorViewProps, texts } from "./settings.js";

const prices = [
  ["input", texts.input],
  ["cachedInput", texts.cached],
  ["output", texts.output],
] as const;
const fields: readonly DataField[] = [
  { path: "id", label: texts.id },
  ...prices.map(([name, what]): DataField => {
    return { path: `price.${name}`, label: fill(texts.priceOf, { what }), kind: "number", isOptional: true };
  }),
  { path: "contextLength", label: texts.contextLength, kind: "number", isOptional: true },
  { path: "maxOutputTokens", label: texts.maxOutput, kind: "number", isOptional: true },
  { path: "aliases", label: texts.aliases, kind: "lines", isOptional: true, hint: texts.aliasesHint },
];
const fresh = {
  ...{ id: "", type: "chat", contextLength: 128_000, price: { input: 1, output: 1 } },
  upstream: { provider: "", model: "" },
};

type Task = "edit" | "disable" | "enable" | "remove";

/** Models as they are in force, and what the store says of them. */
export function ModelsView({ health }: OperatorViewProps) {
  const models = useApi<OperatorPageApi["GET models"]>("models");
  const [task, setTask] = useState<readonly [Task, OperatorModel | undefined]>();
  const [name, model] = task ?? [];
  const done = { onDone: models.reload, onClose: () => setTask(undefined) };
  return (
    <Shown of={models} missing={texts.noModels}>
      {({ data, editable }) => (
        <>
          {editable ? (
            <div class="actions">
              <button type="button" class="primary" onClick={() => setTask(["edit", undefined])}>
                {texts.newModel}
              </button>
            </div>
          ) : (
            !health.read_only && <Notice>{texts.noModelStore}</Notice>
          )}
          <section class="card" aria-label={texts.models}>
            {data.length === 0 ? (
              <Empty title={texts.noModels} />
            ) : (
              <Table
                caption={texts.models}
                columns={columnsOf(editable ? (next, one) => setTask([next, one]) : undefined)}
                rows={data}
                keyOf={({ id }) => id}
              />
            )}
          </section>
          {name === "edit" && (
            <DocumentForm
              kind="model"
              title={model === undefined ? texts.newModel : fill(texts.editOf, { name: model.id })}
              data={model?.entry ?? model?.model ?? fresh}
              version={model?.version ?? null}
              fields={model === undefined ? fields : fields.slice(1)}
              {...done}
            />
          )}
          {name !== undefined && name !== "edit" && model && <ModelForm task={name} model={model} {...done} />}
        </>
      )}
    </Shown>
  );
}

interface ModelFormProps {
  readonly task: Exclude<Task, "edit">;
  readonly model: OperatorModel;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Takes a model out of service and back, or lets that of the options count again. */
function ModelForm({ task, model: { id, model, entry, version }, onDone, onClose }: ModelFormProps) {
  const headers = precondition(version);
  const send = async ({ note = "" }: FormValues) => {
    if (task === "remove")
      await callApi(withQuery("model/remove", { id }), { method: "POST", body: { note }, headers });
    else {
      const changed = { ...(entry ?? model), disabled: task === "disable" };
      await callApi("model", { method: "PUT", body: { model: changed, note }, headers });
    }
    await onDone();
  };
  const title = fill(texts[`${task}Of`], { name: id });
  const more = texts[`${task}ModelMore`];
  return (
    <ChangeForm {...{ title, more, send, onClose }} action={texts[`task_${task}`]} isDangerous={task !== "enable"} />
  );
}

function columnsOf(onTask: ((task: Task, model: OperatorModel) => void) | undefined): readonly Column<OperatorModel>[] {
  const columns: Column<OperatorModel>[] = [
    {
      head: texts.model,
      cell: (row) => (
        <Two more={<Cut>{detailsOf(row)}</Cut>}>
          <Cut>{row.id}</Cut>
          {row.problem && <p class="wrong">{row.problem}</p>}
        </Two>
      ),
    },
    { head: texts.source, cell: (row) => <Source of={row} /> },
    ...prices.map(([name, head]) => figures<OperatorModel>(head, ({ model }) => model?.price[name] ?? null, inCredits)),
    {
      head: texts.otherPrices,
      cell: ({ model }) => (model === null ? null : otherPrices(model).map((price) => <div key={price}>{price}</div>)),
    },
    figures(texts.contextLength, ({ model }) => model?.contextLength ?? null),
  ];
  if (onTask === undefined) return columns;
  const tasksOf = ({ model, version }: OperatorModel): readonly Task[] => [
    ...(["edit", model === null ? "enable" : "disable"] as const),
    ...(version === null ? [] : ["remove" as const]),
  ];
  const cell = (row: OperatorModel) => <Tasks of={row.id} tasks={tasksOf(row)} onTask={(task) => onTask(task, row)} />;
  return [...columns, { head: texts.change, cell }];
}

function inCredits(price: number): string {
  return number(price, 2, 6);
}

/** Such as `An image high 1024x1024 0.20`: all that has no column of its own. */
function otherPrices({ price }: OperatorModelData): readonly string[] {
  const columns: readonly string[] = prices.map(([name]) => name);
  const { steps, tiers, ...flat } = price;
  const variants = priceVariants({ steps, tiers });
  return Object.entries(flat)
    .filter(([name]) => !columns.includes(name))
    .flatMap(([name, amount]) => {
      const rows = Array.isArray(amount) ? (amount as readonly PriceRow[]) : [{ credits: Number(amount) }];
      return rows.map(({ quality, size, credits }: PriceRow) =>
        [wordOf("price", name), quality, size, inCredits(credits)].filter((word) => word !== undefined).join(" "),
      );
    })
    .concat(variants.map(({ part, of, credits }) => [wordOf("price", part), of, inCredits(credits)].join(" ")));
}

/** What an image of a kind costs. Prices that are one amount have no kinds. */
interface PriceRow {
  readonly quality?: string;
  readonly size?: string;
  readonly credits: number;
}

/** Its targets, and what else it is called. */
function detailsOf({ model }: OperatorModel): string {
  const targets = [model?.upstream ?? []].flat().map((target) => `${target.provider}/${target.model}`);
  return [...targets, ...(model?.aliases ?? []).map((alias) => `“${alias}”`)].join(", ");
}

function Source({ of: { model, source, entry } }: { readonly of: OperatorModel }) {
  if (model === null) {
    return <Badge tone="danger">{entry?.["disabled"] === true ? texts.outOfService : texts.notInForce}</Badge>;
  }
  return source === "store" ? <Badge tone="good">{texts.fromStore}</Badge> : <Badge>{texts.fromOptions}</Badge>;
}
