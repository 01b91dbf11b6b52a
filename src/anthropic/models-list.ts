/** What of a model its record shows. */
export interface ListedModel {
  readonly id: string;
  readonly contextLength: number;
  readonly maxOutputTokens?: number | undefined;
  /** What it is called; absent: its id. */
  readonly displayName?: string | undefined;
  /** Epoch seconds. */
  readonly created: number;
}

/** What part of the list is asked for: `limit`, `after_id` and `before_id` of the query, as they were sent. */
export interface ListedPage {
  readonly limit?: string | undefined;
  readonly afterId?: string | undefined;
  readonly beforeId?: string | undefined;
}

const usualLimit = 20;
const mostModels = 1000;

/** A model as Anthropic describes one (Anthropic reference, "Get a Model"). */
export function anthropicModel(model: ListedModel): string {
  return JSON.stringify({
    type: "model",
    id: model.id,
    display_name: model.displayName ?? model.id,
    created_at: new Date(model.created * 1000).toISOString().replace(".000Z", "Z"),
    max_input_tokens: model.contextLength,
    max_tokens: model.maxOutputTokens ?? null,
  });
}

/** A page of the list (Anthropic reference, "List Models"). A limit that is none counts as the usual one. */
export function anthropicModelList(models: readonly ListedModel[], page: ListedPage): string {
  const limit = readLimit(page.limit);
  const { afterId, beforeId } = page;
  const before = beforeId === undefined ? -1 : models.findIndex(({ id }) => id === beforeId);
  const from = before >= 0 ? Math.max(0, before - limit) : models.findIndex(({ id }) => id === afterId) + 1;
  const listed = models.slice(from, before >= 0 ? before : from + limit);
  const hasMore = before >= 0 ? from > 0 : from + limit < models.length;
  const ids = JSON.stringify({
    has_more: hasMore,
    first_id: listed[0]?.id ?? null,
    last_id: listed.at(-1)?.id ?? null,
  });
  return `{"data":[${listed.map(anthropicModel).join(",")}],${ids.slice(1)}`;
}

function readLimit(limit: string | undefined): number {
  const value = limit === undefined || !/^\d{1,6}$/.test(limit) ? usualLimit : Number(limit);
  return Math.min(Math.max(value, 1), mostModels);
}
